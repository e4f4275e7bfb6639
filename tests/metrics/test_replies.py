from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.metrics.outcomes import Outcome, of_unreadable, without_answer
from lmms_eval_finance.metrics.replies import infrastructure_error

REFUSED = [
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "I cannot answer this question.",
    "**I cannot answer.**",
    "I am unable to determine the answer from the image.",
    "As an AI language model, I can't provide financial advice.",
    "I'm not able to view images.",
    "I don't know.",
    "I do not have access to the document. Please provide the table.",
    "Unfortunately, I cannot read the chart because the image is too blurry.",
    "I can't see the image. Could you upload it again?",
    "I must decline to answer.",
    "<think>B?</think>I'm afraid I can't answer that.",
    "Je ne peux pas répondre à cette question.",
    "Désolé, je ne peux pas vous aider.",
    "Je suis désolé, mais je ne suis pas en mesure de répondre.",
    "Je ne sais pas.",
    "Il m'est impossible de lire le tableau car l'image est floue.",
    "En tant qu'IA, je ne peux pas fournir de conseil.",
    "Je suis dans l'incapacité de répondre. Veuillez fournir le document.",
    "抱歉，我无法回答这个问题。",
    "对不起，我不能提供帮助。",
    "我不知道。",
    "我无法确定答案，请提供更清晰的图片。",
    "作为一个AI，我无法查看图片。",
    "很抱歉，由于图片模糊，我无法识别。",
    "无法回答",
    "The response was filtered due to the prompt triggering our content management policy.",
]
ANSWERED = [
    "I cannot be certain, but the answer is 5%.",
    "I can't see the chart, but C would be my guess.",
    "I cannot find any fee, so the total is 0.",
    "I don't have the exact figure. It is roughly 3.2 million.",
    "I cannot recommend option A because its fee is higher. Option B is the answer.",
    "Sorry, the correct answer is 42.",
    "The fund cannot invest in derivatives.",
    "The issuer is unable to pay.",
    "Not enough information is given in the problem.",
    "Neither can be determined.",
    "No.",
    "5%",
    "√",
    "Je ne peux pas le confirmer, mais le taux est de 3 %.",
    "Je ne vois pas de frais de sortie : 0 €",
    "La société ne peut pas racheter ses actions.",
    "Le document ne mentionne pas de frais.",
    "Non précisé",
    "无法确定具体数字，但大约是5%。",
    "我不确定，但我认为是12%",
    "公司无法按时还款",
    "不能，因为净资产为负",
    '{"answer": "B", "expl',
    '{"q1": "A", "q2": "',
    "B <think>let me check",
    "```\nB",
]
CUT = [
    "<think>so the",
    "<think>",
    "[THINK]so",
    '{"answer": "',
    "{",
    '```json\n{"q1": {"answer": "A',
    "<think>a</think>{",
]
EMPTY = ["", "   ", "...", "<think>x</think>", "**", "```\n```", "?!", "，。", "<think></think>\n"]
ERRORS = [
    "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Connection error.",
    "[LMMS_EVAL_BUDGET_EXCEEDED]",
    "Error code: 429 - {'error': {'message': 'Rate limit reached for requests', 'type': 'tokens'}}",
    "Error: Connection error.",
    "Request timed out.",
    "openai.APITimeoutError: Request timed out.",
    "Internal Server Error",
    "<html>\n<head><title>502 Bad Gateway</title></head>",
    "Error: 503 Service Temporarily Unavailable",
    "429 Too Many Requests",
    "408 Request Timeout",
    "500 Server Error: Internal Server Error for url: http://localhost",
    "500 - Internal Server Error",
    "522: Connection timed out",
    "520: Web server is returning an unknown error",
    "HTTP Error 504: Gateway Time-out",
    "HTTPSConnectionPool(host='example.org', port=443): Max retries exceeded",
    "CUDA out of memory. Tried to allocate 2.00 GiB",
    "torch.cuda.OutOfMemoryError: CUDA out of memory",
    "Traceback (most recent call last):\n  File",
    '{"error": {"message": "The server is overloaded", "type": "server_error"}}',
    "upstream connect error or disconnect/reset before headers",
    "This model's maximum context length is 8192 tokens.",
    "API error: timeout",
    "ERROR: Failed to connect",
    "You exceeded your current quota, please check your plan",
]
NO_ERRORS = [
    "Error: the margin fell, so B is wrong",
    "500 million",
    "504",
    "503 basis points",
    "512 clients",
    "500 services",
    "550 connections, 60 more than in 2019",
    "504 errors were found",
    "512 request forms",
    "501 internal audits",
    "Error in the table: B",
    "Service revenue rose",
    "Connection fees are 5%",
    "The request was late",
    "Rate limits apply: 5%",
    "Out of memory chips, sales rose",
    "Failed: 3 of 5 banks",
    "Server error margin",
    "The answer is B. A 502 Bad Gateway is unrelated.",
]


@pytest.mark.parametrize("text", REFUSED)
def test_refusals(text: str) -> None:
    assert without_answer(text) is Outcome.REFUSED


@pytest.mark.parametrize("text", ANSWERED)
def test_what_states_anything_is_left_to_its_reader(text: str) -> None:
    assert without_answer(text) is None


@pytest.mark.parametrize("text", CUT)
def test_replies_cut_before_they_said_anything(text: str) -> None:
    assert without_answer(text) is Outcome.TRUNCATED


@pytest.mark.parametrize("text", EMPTY)
def test_empty_replies(text: str) -> None:
    assert without_answer(text) is Outcome.EMPTY


@pytest.mark.parametrize("text", ERRORS)
def test_error_messages_are_no_replies(text: str) -> None:
    assert infrastructure_error(text)
    assert without_answer(text) is Outcome.REQUEST_FAILED


@pytest.mark.parametrize("text", [*NO_ERRORS, *REFUSED[:-1], *ANSWERED])
def test_replies_are_no_error_messages(text: str) -> None:
    assert infrastructure_error(text) is None


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("The image shows two bars. I cannot tell which is meant.", Outcome.REFUSED),
        ("A bar chart. 我无法确定是哪一个。", Outcome.REFUSED),
        ("The chart shows revenue by year. " * 9 + "Next, we divide the sum by the", Outcome.TRUNCATED),
        ("The sum is " + "very " * 200, Outcome.TRUNCATED),
        ('{"q1": "A", "q2": "12', Outcome.TRUNCATED),
        ("```python\nx = 1", Outcome.TRUNCATED),
        ("Both bars rise. <think>hm", Outcome.TRUNCATED),
        ("It depends.", Outcome.UNREADABLE),
        (" ".join(f"Bar {n} shows the revenue of that year." for n in range(20)), Outcome.UNREADABLE),
    ],
)
def test_why_nothing_could_be_read(text: str, outcome: Outcome) -> None:
    assert of_unreadable(text) is outcome


@given(
    st.text()
    | st.lists(st.sampled_from([*REFUSED, *CUT, *ERRORS, "{", "<think>", "\n"]), max_size=6).map("".join)
)
def test_any_text_has_an_outcome(text: str) -> None:
    first = without_answer(text)
    assert of_unreadable(text) is (first or of_unreadable(text))
    # Only an error message in place of a reply is not the model's doing.
    assert of_unreadable(text).scored or infrastructure_error(text)


@pytest.mark.parametrize(
    "shred", ["error ", "error: ", "{", "'", "I cannot ", "sorry, ", "我", "<b>", "```", "a b ", "http 500 "]
)
def test_long_repetitions_are_read_in_bounded_time(shred: str) -> None:
    of_unreadable(shred * 3_000)
    infrastructure_error(shred * 300)
