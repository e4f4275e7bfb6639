// Runs inside the V8 isolate after the MathJax components: typesets formulas and reads their glyphs.
// layouts(sources, draw) returns JSON, for each source {glyphs: [[text, variant, place, x0, y0, x1, y1],
// ...], svg} in units of 1/1000 em with y upwards, or {error: [id, message]} when MathJax rejects it.
// MAX_GLYPHS is given by the caller.
(function (global) {
  "use strict";
  const M = global.MathJax._;
  const {Configuration} = M.input.tex.Configuration;
  const {CommandMap, EnvironmentMap, MacroMap} = M.input.tex.SymbolMap;
  const {MapHandler} = M.input.tex.MapHandler;
  const {default: TexParser} = M.input.tex.TexParser;
  const {TextMacrosMethods} = M.input.tex.textmacros.TextMacrosMethods;
  const {default: TexError} = M.input.tex.TexError;
  const ParseMethods = M.input.tex.ParseMethods.default;
  const ParseUtil = M.input.tex.ParseUtil.default;
  const BaseMethods = M.input.tex.base.BaseMethods.default;
  const EM = 16;

  // MathJax asks a character for its Unicode range and crashes where its list has a hole (the euro sign, NUL).
  const {RANGES} = M.core.MmlTree.OperatorDictionary;
  const filled = [];
  let next = 0;
  for (const range of RANGES) {
    if (range[0] > next) filled.push([next, range[0] - 1, 0, "mo"]);
    filled.push(range);
    next = range[1] + 1;
  }
  filled.push([next, 0x10ffff, 0, "mo"]);
  RANGES.splice(0, RANGES.length, ...filled);

  // TeX goes on after a double script as if {} stood before it; MathJax stops.
  const special = MapHandler.getMap("special");
  for (const char of ["^", "_", "'"]) {
    const macro = special.lookup(char);
    const original = macro.func;
    macro._func = function (parser, ...rest) {
      const base = parser.stack.Prev(true);  // taken off the stack before the error is raised
      try {
        return original(parser, ...rest);
      } catch (error) {
        if (!/^Double(Exponent|Subscripts|ExponentPrime)$/.test(error.id)) throw error;
        parser.Push(base);
        parser.Push(parser.create("token", "mi", {}, ""));
        return original(parser, ...rest);
      }
    };
  }

  // What TeX (or a reader) takes without stopping: an unknown command is one sign that matches only itself,
  // an unknown environment is its content, misplaced limits are ignored. Equation numbers print where they
  // stand and labels print nothing, so that neither outlives its formula.
  const methods = {
    unknown(parser, name) {
      const node = parser.create("node", "mtext", [], {}, parser.create("text", "\u25A1"));
      node.setProperty("unknown", "\\" + name);
      parser.Push(node);
    },
    tag(parser, name) {
      const star = parser.GetStar();
      const text = parser.GetArgument(name);
      parser.Push(parser.create("node", "mspace", [], {width: "2em"}));
      for (const node of ParseUtil.internalMath(parser, star ? text : "(" + text + ")")) parser.Push(node);
    },
    drop(parser, name) {
      parser.GetArgument(name);
    },
    nothing() {},
    limits(parser, name) {
      try {
        BaseMethods.Limits(parser, name, name === "\\limits");
      } catch (error) {
        if (error.id !== "MisplacedLimits") throw error;
      }
    },
    Macro: BaseMethods.Macro,
  };
  new CommandMap("lenient-macros", {
    tag: "tag", label: "drop", nonumber: "nothing", notag: "nothing", limits: "limits", nolimits: "limits",
    hfill: "nothing", hfil: "nothing", "/": "nothing", "-": "nothing",
    bm: ["Macro", "\\boldsymbol{#1}", 1], mathds: ["Macro", "\\mathbb{#1}", 1], mathbbm: ["Macro", "\\mathbb{#1}", 1],
    argmax: ["Macro", "\\operatorname*{arg\\,max}"], argmin: ["Macro", "\\operatorname*{arg\\,min}"],
    textsuperscript: ["Macro", "^{\\text{#1}}", 1], textsubscript: ["Macro", "_{\\text{#1}}", 1],
    ensuremath: ["Macro", "{#1}", 1],
    emph: ["Macro", "\\text{#1}", 1], textmd: ["Macro", "\\text{#1}", 1], textsc: ["Macro", "\\text{#1}", 1],
    pounds: ["Macro", "\u00A3"], euro: ["Macro", "\u20AC"], permil: ["Macro", "\u2030"],
  }, methods);

  // Where text holds what only formulas may, TeX takes the rest of the group as a formula; MathJax stops.
  function formulaFrom(parser, latex) {
    parser.saveText();
    let end = parser.i;
    for (let depth = 0; end < parser.string.length; end++) {
      const char = parser.string[end];
      if (char === "\\") end++;
      else if (char === "{") depth++;
      else if (char === "}" && depth-- === 0) break;
    }
    const formula = new TexParser(latex + parser.string.slice(parser.i, end), {...parser.stack.env},
      parser.texParser.configuration);
    parser.i = Math.min(end, parser.string.length);
    parser.PushMath(formula.mml());
  }
  const textMethods = {
    script: formulaFrom,
    literal(parser, char) {
      parser.text += char;
    },
    macro(parser, name) {
      const macro = parser.texParser.lookup("macro", name);
      if (macro && macro._func !== TextMacrosMethods.Macro) {
        formulaFrom(parser, "\\" + name + (/[a-z]$/i.test(name) ? " " : ""));
      } else {
        parser.texParser.parse("macro", [parser, name]);
      }
    },
  };
  new MacroMap("lenient-text-characters", {"^": "script", "_": "script", "&": "literal", "#": "literal"}, textMethods);
  Configuration.create("lenient-text", {
    parser: "text",
    handler: {character: ["lenient-text-characters"]},
    fallback: {macro: textMethods.macro},
    priority: 1,
  });
  // Unicode signs that mean a construction rather than a glyph.
  const signs = {"\u00B0": "^{\\circ}", "\u2032": "^{\\prime}", "\u2033": "^{\\prime\\prime}",
    "\u2211": "\\sum ", "\u220F": "\\prod "};
  const raised = {"\u00B9": "1", "\u00B2": "2", "\u00B3": "3", "\u207A": "+", "\u207B": "-", "\u207F": "n"};
  const lowered = {"\u208A": "+", "\u208B": "-"};
  for (let digit = 0; digit <= 9; digit++) {
    if (digit === 0 || digit > 3) raised[String.fromCodePoint(0x2070 + digit)] = String(digit);
    lowered[String.fromCodePoint(0x2080 + digit)] = String(digit);
  }
  for (const [char, meaning] of Object.entries(raised)) signs[char] = "^{" + meaning + "}";
  for (const [char, meaning] of Object.entries(lowered)) signs[char] = "_{" + meaning + "}";
  new MacroMap("lenient-characters",
    Object.fromEntries(Object.entries(signs).map(([char, latex]) => [char, ["Macro", latex]])), methods);
  new EnvironmentMap("lenient-environments", ParseMethods.environment, {tabular: ["Array"]}, BaseMethods);
  Configuration.create("lenient", {
    handler: {character: ["lenient-characters"], macro: ["lenient-macros"], environment: ["lenient-environments"]},
    fallback: {macro: methods.unknown, environment: methods.nothing},
    priority: 1,
  });

  const adaptor = M.adaptors.liteAdaptor.liteAdaptor();
  const {HTMLDocument} = M.handlers.html.HTMLDocument;
  const {TeXFont} = M.output.svg.fonts.tex_ts;
  const {SVG} = M.output.svg_ts;
  const {TeX} = M.input.tex_ts;

  let document = null;
  let root = null;    // the wrapper of the formula that was typeset last
  let lines = false;  // whether it breaks lines outside any environment
  function build() {
    const input = new TeX({
      packages: ["base", "ams", "newcommand", "textmacros", "boldsymbol", "braket", "cancel", "enclose",
        "mathtools", "textcomp", "upgreek", "unicode", "gensymb", "color", "html", "lenient"],
      textmacros: {packages: ["text-base", "lenient-text"]},
      maxMacros: 1000,
      maxBuffer: 20 * 1024,
      formatError(_jax, error) {
        throw error;
      },
    });
    const output = new SVG({fontCache: "none", font: new TeXFont()});
    const typeset = output.typesetSVG;
    output.typesetSVG = function (wrapper, svg, g) {
      root = wrapper;
      return typeset.call(output, wrapper, svg, g);
    };
    document = new HTMLDocument(adaptor.parse("", "text/html"), adaptor,
      {InputJax: input, OutputJax: output});
  }
  build();

  const DEFINES = /\\(?:(?:re|provide)?newcommand|new(?:environment|tagform)|renewenvironment|g?def|let|Declare|math(?:toolsset|linesep)|require)/;

  // ---- ink boxes ---------------------------------------------------------------------------------
  const ink = new Map();
  function inkOf(path) {
    let box = ink.get(path);
    if (box) return box;
    let x0 = Infinity, y0 = Infinity, x1 = -Infinity, y1 = -Infinity, x = 0, y = 0;
    const see = () => {
      if (x < x0) x0 = x;
      if (x > x1) x1 = x;
      if (y < y0) y0 = y;
      if (y > y1) y1 = y;
    };
    // The fonts use absolute M, L, H, V, Q, T, C and Z only; control points stand in for the curve.
    for (const [, command, list] of path.matchAll(/([A-Z])([^A-Z]*)/g)) {
      const numbers = (list.match(/-?[\d.]+/g) || []).map(Number);
      if (command === "H") for (x of numbers) see();
      else if (command === "V") for (y of numbers) see();
      else for (let i = 0; i + 1 < numbers.length; i += 2) { x = numbers[i]; y = numbers[i + 1]; see(); }
    }
    box = x0 === Infinity ? null : [x0, y0, x1, y1];
    ink.set(path, box);
    return box;
  }

  // ---- walking the typeset tree ------------------------------------------------------------------
  function place(transform, frame) {
    let [x, y, sx, sy] = frame;
    for (const [, kind, list] of (transform || "").matchAll(/(\w+)\(([^)]*)\)/g)) {
      const [a, b] = list.split(/[ ,]+/).map(Number);
      if (kind === "translate") { x += a * sx; y += (b || 0) * sy; }
      else { sx *= a; sy *= b === undefined ? a : b; }
    }
    return [x, y, sx, sy];
  }

  function boxIn(frame, box) {
    const [x, y, sx, sy] = frame;
    return [x + box[0] * sx, y + box[1] * sy, x + box[2] * sx, y + box[3] * sy];
  }

  function union(boxes) {
    if (!boxes.length) return null;
    return [Math.min(...boxes.map(b => Math.min(b[0], b[2]))), Math.min(...boxes.map(b => Math.min(b[1], b[3]))),
      Math.max(...boxes.map(b => Math.max(b[0], b[2]))), Math.max(...boxes.map(b => Math.max(b[1], b[3])))];
  }

  // The vertical place that a child of a layout node stands in, '' for the base.
  function placeOf(node, index) {
    switch (node.kind) {
      case "msup": case "msub": case "msubsup":
        return index === node.sup ? "^" : index === node.sub ? "_" : "";
      case "mover": case "munder": case "munderover": {
        if (index === node.base) return "";
        const script = node.childNodes[index];
        const accent = node.attributes.get(index === node.over ? "accent" : "accentunder")
          || (script.isEmbellished && script.coreMO().attributes.get("accent"));
        return accent ? "" : index === node.over ? "^" : "_";
      }
      case "mmultiscripts":
        return index === 0 ? "" : "?";
      case "mfrac":
        return parseFloat(node.attributes.get("linethickness")) === 0 ? "" : index === 0 ? "n" : "d";
      case "mroot":
        return index === 1 ? "r" : "";
      default:
        return "";
    }
  }

  function read(wrapper) {
    const of = new Map();      // SVG element -> wrapper
    const places = new Map();  // wrapper -> place
    const stack = [[wrapper, ""]];
    while (stack.length) {
      const [w, path] = stack.pop();
      places.set(w, path);
      if (w.element) of.set(w.element, w);
      (w.childNodes || []).forEach((child, index) => {
        stack.push([child, path + placeOf(w.node, index)]);
      });
    }
    const glyphs = [];
    const emit = (text, variant, path, box) => {
      if (!box) return;
      if (glyphs.length >= MAX_GLYPHS) throw new TexError("TooManyGlyphs", "more than " + MAX_GLYPHS + " glyphs");
      glyphs.push([text, variant, path, ...box.map(v => Math.round(v * 10) / 10)]);
    };

    // All ink below an element, as boxes.
    function boxOf(element, frame, boxes) {
      const attribute = name => adaptor.getAttribute(element, name);
      const number = name => parseFloat(attribute(name) || "0");
      const inner = place(attribute("transform"), frame);
      switch (adaptor.kind(element)) {
        case "path": {
          const box = attribute("data-c") !== undefined ? inkOf(attribute("d") || "") : null;
          if (box) boxes.push(boxIn(inner, box));
          break;
        }
        case "text": {
          const width = root.jax.measureTextNodeWithCache(element, adaptor.textContent(element),
            attribute("data-variant") || "normal").w * 1000;
          boxes.push(boxIn(place(attribute("transform"), frame), [0, 120, width, -880]));
          break;
        }
        case "rect":
          if (attribute("data-bgcolor") || attribute("data-hitbox")) break;
          boxes.push(boxIn(inner, [number("x"), number("y"), number("x") + number("width"),
            number("y") + number("height")]));
          break;
        case "line":
          boxes.push(boxIn(inner, [number("x1"), number("y1"), number("x2"), number("y2")]));
          break;
        case "ellipse":
          boxes.push(boxIn(inner, [number("cx") - number("rx"), number("cy") - number("ry"),
            number("cx") + number("rx"), number("cy") + number("ry")]));
          break;
        case "svg":  // an extender: clipped to its own frame
          boxes.push(boxIn(inner, [number("x"), number("y"), number("x") + number("width"),
            number("y") + number("height")]));
          break;
        case "a":
        case "g":
          for (const child of adaptor.childNodes(element)) boxOf(child, inner, boxes);
      }
      return boxes;
    }

    function walk(element, frame, current) {
      const kind = adaptor.kind(element);
      if (kind === "#text") return;
      const attribute = name => adaptor.getAttribute(element, name);
      const own = of.get(element);
      const wrapper = own || current;
      const node = wrapper.node;
      const path = places.get(wrapper);
      const inner = place(attribute("transform"), frame);
      if (own && node.kind === "mphantom") return;
      if (own && node.kind === "mspace" && node.attributes.get("linebreak") === "newline") lines = true;
      if (own && node.getProperty("unknown")) {
        emit(node.getProperty("unknown"), "unknown", path, union(boxOf(element, frame, [])));
        return;
      }
      if (own && node.kind === "mo" && isOneSign(wrapper)) {
        const box = union(boxOf(element, frame, []));
        emit(wrapper.getText(), accentKind(node) || wrapper.variant, path, box);
        return;
      }
      if (own && (node.kind === "msqrt" || node.kind === "mroot")) {
        radical(element, inner, wrapper, path);
        return;
      }
      if (own && node.kind === "menclose") {
        const boxes = [];
        for (const child of adaptor.childNodes(element)) {
          if (of.has(child) || adaptor.kind(child) === "g") walk(child, inner, wrapper);
          else boxOf(child, inner, boxes);
        }
        emit(node.attributes.get("notation"), "enclose", path, union(boxes));
        return;
      }
      const code = attribute("data-c");
      switch (kind) {
        case "path":
          if (code) emit(String.fromCodePoint(parseInt(code, 16)), wrapper.variant, path, union(boxOf(element, frame, [])));
          break;
        case "text": {
          const chars = Array.from(adaptor.textContent(element));
          const box = union(boxOf(element, frame, []));
          chars.forEach((char, i) => {
            const step = (box[2] - box[0]) / chars.length;
            if (char.trim()) emit(char, wrapper.variant, path, [box[0] + i * step, box[1], box[0] + (i + 1) * step, box[3]]);
          });
          break;
        }
        case "rect":
          if (node.kind === "mfrac") emit("\u2500", "fraction", path, union(boxOf(element, frame, [])));
          break;
        case "a":
        case "g":
          if (code) {  // one sign that the font builds from several
            emit(String.fromCodePoint(parseInt(code, 16)), wrapper.variant, path, union(boxOf(element, frame, [])));
            break;
          }
          for (const child of adaptor.childNodes(element)) walk(child, inner, wrapper);
      }
    }

    // The radical sign with its bar is one glyph.
    function radical(element, inner, wrapper, path) {
      const surd = wrapper.childNodes[wrapper.surd];
      const boxes = [];
      for (const child of adaptor.childNodes(element)) {
        if (child === surd.element || adaptor.kind(child) === "rect") boxOf(child, inner, boxes);
        else walk(child, inner, wrapper);
      }
      emit("\u221A", "radical", path, union(boxes));
    }

    walk(wrapper.element, [0, 0, 1, 1], wrapper);
    return glyphs;
  }

  function isOneSign(wrapper) {
    return Array.from(wrapper.getText()).length === 1 || (wrapper.stretch.dir && wrapper.size < 0);
  }

  // Whether a sign is an accent, and one that grows with what it stands on.
  function accentKind(node) {
    let child = node;
    let parent = node.parent;
    while (parent && /^(TeXAtom|mrow|inferredMrow)$/.test(parent.kind) && parent.childNodes.length === 1) {
      child = parent;
      parent = parent.parent;
    }
    const over = parent && /^(mover|munder|munderover)$/.test(parent.kind)
      && parent.childNodes.indexOf(child) !== parent.base && node.attributes.get("accent");
    return over ? (node.attributes.get("stretchy") ? "wide accent" : "accent") : "";
  }

  function typeset(latex) {
    lines = false;
    const html = document.convert(latex, {display: true, em: EM, ex: EM * 0.442, containerWidth: 80 * EM});
    return [html, read(root)];
  }

  // Lines and columns outside any environment print as they would inside one.
  function typesetLines(latex) {
    const inEnvironment = "\\begin{aligned}" + latex + "\\end{aligned}";
    try {
      const result = typeset(latex);
      return lines ? typeset(inEnvironment) : result;
    } catch (error) {
      if (error.id !== "Misplaced") throw error;
      return typeset(inEnvironment);
    }
  }

  function layout(latex, draw) {
    try {
      const [html, glyphs] = typesetLines(latex);
      return draw ? {glyphs, svg: adaptor.innerHTML(html)} : {glyphs};
    } catch (error) {
      return {error: [String(error.id || error.name || "Error"), String(error.message).slice(0, 200)]};
    } finally {
      root = null;
      if (DEFINES.test(latex)) build();
    }
  }

  global.layouts = (sources, draw) => JSON.stringify(sources.map(latex => layout(latex, draw)));
})(globalThis);
