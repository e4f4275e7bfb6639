from __future__ import annotations

import pytest

from lmms_eval_finance.judging.config import PARAMETERS, configured, load_judges
from lmms_eval_finance.settings import SettingError

MINIMAL = '[[judge]]\nmodel = "m"\nbase_url = "http://localhost:8000/v1"\n'
SECRET = "sk-verysecret-0123456789"


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "judges.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_minimal_file_has_sound_defaults(write, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    config = load_judges(write(MINIMAL))
    (judge,) = config.judges
    assert (judge.name, judge.key, judge.prompt, judge.price) == ("m", "", None, None)
    assert judge.parameters == PARAMETERS
    assert judge.parameters["temperature"] == 0
    assert config.cache == tmp_path / "xdg/lmms-eval-finance/judge-cache.sqlite"
    assert (config.limits.calls, config.limits.tokens) == (None, None)


def test_a_full_file(write, monkeypatch):
    monkeypatch.setenv("MY_KEY", SECRET)
    config = load_judges(
        write(
            """
            concurrency = 16
            cache = "sub/cache.sqlite"
            budget = {calls = 10, tokens = 1_000}
            [[judge]]
            name = "one"
            model = "m"
            base_url = "https://example.org/v1/chat/completions/"
            key_env = "MY_KEY"
            prompt = "mfe"
            parameters = {temperature = 0.5, max_completion_tokens = 9}
            timeout = 2.5
            retries = 0
            price = {input = 1, output = 2.5}
            [[judge]]
            name = "two"
            model = "m"
            base_url = "http://[::1]:8000/v1"
            concurrency = 3
            """
        )
    )
    one, two = config.judges
    assert one.base_url == "https://example.org/v1"
    assert (one.key, one.concurrency, one.timeout, one.retries) == (SECRET, 16, 2.5, 0)
    assert (one.price.input, one.price.output) == (1, 2.5)
    assert one.completion_limit == 9
    assert (two.concurrency, two.completion_limit) == (3, 1024)
    assert config.cache == config.path.parent / "sub/cache.sqlite"
    assert (config.limits.calls, config.limits.tokens) == (10, 1000)
    assert SECRET not in repr(config)


JUDGE = MINIMAL
FAULTS = {
    "no judge": ("concurrency = 3", r"\[\[judge\]\] table is needed"),
    "single brackets": ('[judge]\nmodel = "m"', "double brackets"),
    "not TOML": ("[[judge]\nmodel", "not valid TOML"),
    "model missing": ('[[judge]]\nbase_url = "http://h/v1"', "judge 1: model: is missing"),
    "model no text": (JUDGE.replace('"m"', "5"), "judge 1: model: must be a text"),
    "model blank": (JUDGE.replace('"m"', '" "'), "judge 1: model: must be a text"),
    "url missing": ('[[judge]]\nmodel = "m"', "judge 1: base_url: is missing"),
    "url without scheme": (JUDGE.replace("http://localhost", "localhost"), "base_url: is no address"),
    "url of a file": (JUDGE.replace("http:", "file:"), "base_url: is no address"),
    "url with bad port": (JUDGE.replace("8000", "80x"), "base_url: is no address"),
    "url with blank": (JUDGE.replace("8000", "8000 "), "base_url: is no address"),
    "url with password": (JUDGE.replace("//", f"//u:{SECRET}@"), "no user, password or query"),
    "url with query": (JUDGE.replace("/v1", f"/v1?key={SECRET}"), "no user, password or query"),
    "misspelt key": (JUDGE + "temprature = 1", r"judge 1: temprature: is not a known key"),
    "close key": (JUDGE + "promt = 'mfe'", r"did you mean prompt\?"),
    "unknown top key": ("paralel = 1\n" + JUDGE, "paralel: is not a known key"),
    "pasted key": (JUDGE + f'api_key = "{SECRET}"', "api_key: no key stands in this file"),
    "key as variable": (JUDGE + f'key_env = "{SECRET}"', "is the NAME of an environment variable"),
    "variable not set": (JUDGE + 'key_env = "SURELY_NOT_SET_7"', "variable SURELY_NOT_SET_7 is not set"),
    "two of a name": (JUDGE + JUDGE, "two judges are called 'm'"),
    "parameters no table": (JUDGE + "parameters = 3", "judge 1: parameters: must be a table"),
    "own parameter": (JUDGE + "parameters = {stream = true}", r"parameters\.stream: is set by this program"),
    "key as parameter": (JUDGE + f'parameters = {{api_key = "{SECRET}"}}', "use key_env"),
    "password as parameter": (JUDGE + "parameters = {x_password = 'p'}", "use key_env"),
    "key deep in a parameter": (
        JUDGE + f'parameters = {{extra_headers = [{{X-Api-Key = "{SECRET}"}}]}}',
        "X-Api-Key: would stand in signatures",
    ),
    "date parameter": (JUDGE + "parameters = {at = 2020-01-01}", "parameters: hold a value that JSON lacks"),
    "nan parameter": (JUDGE + "parameters = {top_p = nan}", "parameters: hold a value that JSON lacks"),
    "timeout text": (JUDGE + 'timeout = "1"', "judge 1: timeout: must be a number"),
    "timeout zero": (JUDGE + "timeout = 0", "timeout: must be a number, at least 0.001"),
    "retries negative": (JUDGE + "retries = -1", "retries: must be a whole number, at least 0"),
    "retries fraction": (JUDGE + "retries = 1.5", "retries: must be a whole number"),
    "concurrency true": (JUDGE + "concurrency = true", "concurrency: must be a whole number"),
    "concurrency huge": ("concurrency = 5000\n" + JUDGE, "concurrency: must be a whole number.*at most 1024"),
    "price half": (JUDGE + "price = {input = 1}", "judge 1: price: output: is missing"),
    "price negative": (JUDGE + "price = {input = 1, output = -1}", "price: output: must be a number"),
    "budget unknown": ("budget = {euros = 3}\n" + JUDGE, "budget: euros: is not a known key"),
    "budget zero": ("budget = {calls = 0}\n" + JUDGE, "budget: calls: must be a whole number, at least 1"),
    "budget no table": ("budget = 3\n" + JUDGE, "budget: must be a table"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_one_error_that_names_file_and_key(write, fault):
    text, message = FAULTS[fault]
    path = write(text)
    with pytest.raises(SettingError, match=message) as caught:
        load_judges(path)
    assert str(caught.value).startswith(str(path))
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["", "  ", "two words", "ключ", "a\nb"])
def test_a_variable_that_holds_no_key(write, monkeypatch, value):
    monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(SettingError, match=r"key_env: .*variable"):
        load_judges(write(JUDGE + 'key_env = "MY_KEY"'))


def test_a_file_that_is_missing_or_no_text(tmp_path):
    with pytest.raises(SettingError, match="no such file"):
        load_judges(tmp_path / "absent.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingError, match="UTF-8"):
        load_judges(tmp_path / "binary.toml")
    with pytest.raises(SettingError, match="cannot be read"):
        load_judges(tmp_path)


def test_parameters_about_tokens_are_no_secrets(write):
    text = JUDGE + "parameters = {max_tokens = 5, stop_token_ids = [1], logit_bias = {token = 1}}"
    with pytest.raises(SettingError, match="token"):
        load_judges(write(text))
    assert load_judges(write(text.replace(", logit_bias = {token = 1}", ""))).judges[0].completion_limit == 5


def test_home_is_expanded(write, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    path = write('cache = "~/c.sqlite"\n' + MINIMAL)
    assert load_judges(path).cache == tmp_path / "c.sqlite"
    monkeypatch.setenv("LMMS_EVAL_FINANCE_JUDGES", "~/judges.toml")
    assert configured().judges[0].model == "m"


def test_the_setting_names_the_file(write, monkeypatch):
    monkeypatch.delenv("LMMS_EVAL_FINANCE_JUDGES", raising=False)
    assert configured() is None
    monkeypatch.setenv("LMMS_EVAL_FINANCE_JUDGES", str(write(MINIMAL)))
    assert configured().judges[0].model == "m"


def test_a_required_judge_must_be_set(monkeypatch):
    monkeypatch.delenv("LMMS_EVAL_FINANCE_JUDGES", raising=False)
    monkeypatch.setenv("LMMS_EVAL_FINANCE_REQUIRE_JUDGE", "1")
    with pytest.raises(SettingError, match="REQUIRE_JUDGE is set but no judge is"):
        configured()
