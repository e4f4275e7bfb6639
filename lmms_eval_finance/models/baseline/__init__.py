"""A model without a language model: it reads pages, and looks answers up in what it read.

The floor that a vision-language model should beat, and what runs the demo offline. It
gets what every model gets, messages or texts with images, and nothing else:

- `request`: what is asked (a question, options, boxes, a table, fields) and the text that came with it;
- `page`, `ocr`, `lines`: text of an image, with models inside the package rapidocr;
- `grid`, `chart`, `seals`, `formula`, `fields`: structure found by rules from lines, colours and places;
- `evidence`, `sorts`, `spans`, `series`, `answers`: the passage that fits a question best, and in it the
  stretch that is asked for;
- `model`: all that as one function; `host`: the host's model classes.
"""
