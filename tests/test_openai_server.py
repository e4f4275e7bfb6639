"""The test server itself, seen through the official client."""

from __future__ import annotations

import time

import httpx
import openai
import pytest
from openai_server import Reply


@pytest.fixture
def client(openai_server):
    with openai.OpenAI(base_url=openai_server.url, api_key="k", max_retries=0, timeout=5) as client:
        yield client


def ask(client, content="hello", **parameters):
    messages = [{"role": "user", "content": content}]
    return client.chat.completions.create(model="m", messages=messages, **parameters)


def test_answers_and_records(client, openai_server):
    openai_server.reply = lambda body: body["messages"][-1]["content"].upper()
    answer = ask(client, temperature=0)
    assert answer.choices[0].message.content == "HELLO"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    (request,) = openai_server.requests
    assert (request.text, request.body["temperature"]) == ("hello", 0)
    assert request.headers["authorization"] == "Bearer k"


def test_image_parts(client, openai_server):
    url = "data:image/png;base64,AAAA"
    ask(client, [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "what?"}])
    assert openai_server.requests[0].images == [url]
    assert openai_server.requests[0].text == "what?"


def test_scripted_faults_come_in_order(client, openai_server):
    openai_server.script(
        Reply("slow down", status=429, headers={"Retry-After": "7"}),
        Reply(drop=True),
        Reply(cut=20),
        Reply(body=b"<html>"),
        Reply("half an ans", finish_reason="length", usage=False),
    )
    with pytest.raises(openai.RateLimitError) as limited:
        ask(client)
    assert limited.value.response.headers["retry-after"] == "7"
    with pytest.raises(openai.APIConnectionError):
        ask(client)
    with pytest.raises((openai.APIError, httpx.HTTPError)):
        ask(client)
    with pytest.raises(Exception, match=r"Expecting value|not valid"):
        ask(client)
    truncated = ask(client)
    assert truncated.choices[0].finish_reason == "length"
    assert truncated.usage is None
    assert ask(client).choices[0].message.content == "Correct"


def test_latency(client, openai_server):
    openai_server.latency = 0.1
    began = time.monotonic()
    ask(client)
    assert time.monotonic() - began >= 0.1
