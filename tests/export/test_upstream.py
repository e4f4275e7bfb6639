"""Exported tasks: they need their host and the packages they name, and give the plugin's figures."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
import venv
from collections import Counter
from pathlib import Path

import pytest
import yaml
from lmms_eval.api import model as wrapper_module
from packaging.requirements import Requirement

from lmms_eval_finance.cli import main
from lmms_eval_finance.data import sources
from lmms_eval_finance.data.schemas import BENCHMARKS
from lmms_eval_finance.export import closure, upstream
from lmms_eval_finance.export.hosts import HOSTS, OPTIONAL, REQUIREMENTS
from lmms_eval_finance.export.task_files import LEFT_OUT
from lmms_eval_finance.settings import SettingError
from lmms_eval_finance.tasks import registry

ROOT = Path(__file__).resolve().parents[2]
STUBS = ROOT / "tests" / "host" / "stubs"
TEXT_ONLY = ("famma", "mfe", "cfmme")
PLACES = [*(("lmms-eval", name) for name in BENCHMARKS), *(("lm-eval", name) for name in TEXT_ONLY)]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Folder of each host's exported tasks, the sample's rows beside them."""
    folder = tmp_path_factory.mktemp("exported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
        for host in HOSTS:
            assert main(["export", "upstream", str(folder / host), "--host", host, "--with-data"]) == 0
    return folder


# -- what stands in the folders ----------------------------------------------------------------------


class Loader(yaml.SafeLoader):
    """Keeps what ``!function`` refers to."""


Loader.add_constructor("!function", lambda loader, node: f"!{node.value}")


def test_every_benchmark_with_tasks_for_the_host_has_its_folder(exported):
    assert sorted((host, path.name) for host in HOSTS for path in (exported / host).iterdir()) == sorted(
        PLACES
    )


@pytest.mark.parametrize(("host", "benchmark"), PLACES)
def test_task_files_name_functions_of_utils_and_literal_data_alone(exported, host, benchmark):
    folder = exported / host / benchmark
    there = (folder / "utils.py").read_text(encoding="utf-8")
    for path in [*folder.glob("*.yaml"), *folder.glob("_default_template*")]:
        text = path.read_text(encoding="utf-8")
        assert "lmms_eval_finance" not in text
        for name in re.findall(r"!function (\S+)", text):
            assert name.startswith("utils."), name
            local = name.removeprefix("utils.")
            assert f"\n{local} = " in there or local.startswith("data__")
        about = yaml.load(text, Loader)
        if "dataset_path" in about:
            assert about["dataset_path"] in ("parquet", "luojunyu/FinMME", "weaverbirdllm/famma")


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_all_tasks_and_groups_are_there_under_their_names(exported, benchmark):
    folder = exported / "lmms-eval" / benchmark
    ours = {path.name for path in (registry.FOLDER / benchmark).glob("[a-z]*.yaml")}
    assert {path.name for path in folder.glob("*.yaml")} == ours - {f"{name}.yaml" for name in LEFT_OUT}


@pytest.mark.parametrize(("host", "benchmark"), PLACES)
def test_no_module_imports_this_package(exported, host, benchmark):
    for path in (exported / host / benchmark).rglob("*.py"):
        assert not re.search(r"^\s*(from|import) lmms_eval_finance", path.read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize(("host", "benchmark"), PLACES)
def test_the_readme_follows_the_hosts_template_and_describes_every_task(exported, host, benchmark):
    folder = exported / host / benchmark
    text = (folder / "README.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#{1,4} (.+)$", text, re.MULTILINE)
    wanted = ["Paper", "Citation", "Groups, Tags, and Tasks", "Tasks", "Checklist", "Changelog"]
    assert [heading for heading in headings if heading in wanted] == wanted
    described = re.findall(r"^\* `(\w+)`: ", text, re.MULTILINE)
    assert sorted(described) == sorted(path.stem for path in folder.glob("*.yaml"))
    assert text.count("```\n@") == 1


def test_the_readme_of_tasks_without_hub_data_says_where_rows_belong(exported):
    for name in BENCHMARKS:
        text = (exported / "lmms-eval" / name / "README.md").read_text(encoding="utf-8")
        assert ("data/SPLIT.parquet" in text) == (name in ("mfe", "cfmme"))


@pytest.mark.parametrize(("host", "benchmark"), PLACES)
def test_the_readme_says_which_tasks_go_in_rounds(exported, host, benchmark):
    folder = exported / host / benchmark
    text = (folder / "README.md").read_text(encoding="utf-8")
    asked = {
        path.stem
        for path in folder.glob("*.yaml")
        if registry_settings(host, path).get("output_type") == "generate_until_multi_round"
    }
    assert set(re.findall(r"^\* `(\w+)`: .*\(asked in rounds\)", text, re.MULTILINE)) == asked
    assert ("needs a model wrapper that implements" in text) == bool(asked)


def registry_settings(host, path):
    """What a task file says here, its includes among it."""
    ours = registry.FOLDER / path.parent.name / path.name
    return registry.settings_of(ours) if host == "lmms-eval" else {}


@pytest.mark.parametrize("host", HOSTS)
def test_the_hosts_lint_settings_are_met(exported, host):
    settings = ROOT / "lmms_eval_finance" / "export" / f"{host}.toml"
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [*ruff, *command, "--no-cache", "--config", settings, exported / host],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:]


def test_isort_which_lmms_eval_runs_too_agrees(exported):
    pytest.importorskip("isort", reason="isort is not installed")
    command = [sys.executable, "-m", "isort", "--profile", "black", "--check-only", exported / "lmms-eval"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


# -- what is checked before anything is generated ---------------------------------------------------


def utils_of(folder):
    """The `utils.py` of an exported folder, loaded as the hosts do."""
    spec = importlib.util.spec_from_file_location("utils", folder / "utils.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows_of(benchmark, split):
    """The sample's rows of a split."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
        return sources.locate(benchmark, split).load()


@pytest.fixture(scope="module")
def mfe(exported):
    """The `utils.py` of Multimodal Finance Eval."""
    return utils_of(exported / "lmms-eval" / "mfe")


def test_errata_come_along(mfe, monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_ERRATA", "1")
    (doc,) = mfe.process_dialogues_in_rounds(rows_of("mfe", "conversation"))
    figures = mfe.process_dialogue__conversation(doc, [["A", "B"]])
    assert len(figures["errata_changed"]["items"]) == 5
    assert "errata:no" not in figures["accuracy"]["items"][0]["signature"]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_rows_have_the_plugins_fingerprint(exported, benchmark, monkeypatch):
    utils = utils_of(exported / "lmms-eval" / benchmark)
    hooks = {"cfmme": "process_docs__{split}"}
    for split in sources.benchmark(benchmark).splits:
        rows = rows_of(benchmark, split)
        assert len(getattr(utils, hooks.get(benchmark, "process_docs").format(split=split))(rows)) > 0
        with monkeypatch.context() as patch:
            patch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
            ours = sources.locate(benchmark, split).fingerprint
        assert utils._sources.locate(benchmark, split).fingerprint == ours


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("DATA", "sample", "`dataset_path` in their YAML names; unset it"),
        ("ERRATA", "perhaps", "neither yes nor no"),
        ("JUDGES", "/nowhere.toml", "no such file"),
        ("REQUIRE_JUDGE", "1", "no judge is"),
        ("PROMPTS", "/nowhere", "no such folder"),
        ("IDS", "@/nowhere", "cannot be read"),
        ("IDS", "nothing", "lists no id of"),
    ],
)
def test_a_wrong_setting_stops_when_the_host_loads_the_rows(mfe, monkeypatch, setting, value, message):
    monkeypatch.setenv(f"LMMS_EVAL_FINANCE_{setting}", value)
    with pytest.raises(SystemExit, match=message) as caught:
        mfe.process_dialogues_in_rounds(rows_of("mfe", "conversation"))
    assert str(caught.value).startswith("lmms-eval-finance: ")


def test_rows_that_cannot_be_asked_stop_too(mfe):
    rows = rows_of("mfe", "conversation")
    for damaged, message in (
        (rows.remove_columns("question"), "column question: is missing"),
        (rows.select([0, 1, 0]), "row 3, column id: repeats the id of row 1"),
        (rows.select([]), "there are no rows"),
        (rows_of("finmme", "train"), "a split 'train', and these tasks know text, "),
    ):
        with pytest.raises(SystemExit, match=message):
            mfe.process_turns(damaged)


def test_rows_that_are_not_there_are_named(tmp_path):
    folder = upstream.export("mfe", HOSTS["lm-eval"], tmp_path)
    with pytest.raises(SystemExit, match=r"mfe/data/text\.parquet: there are no rows"):
        _ = utils_of(folder).data__text


def test_the_hosts_response_cache_tells_runs_with_other_requests_apart(exported, monkeypatch, tmp_path):
    seen = []
    for name, value in (("IDS", ""), ("IDS", "1,2"), ("IDS", "1,3"), ("PROMPTS", str(tmp_path))):
        monkeypatch.setenv(f"LMMS_EVAL_FINANCE_{name}", value)
        (tmp_path / "mfe.txt").write_text("{context} {question}", encoding="utf-8")
        seen.append(utils_of(exported / "lmms-eval" / "mfe").asked)
    assert len({str(found) for found in seen}) == 4


class Texts(wrapper_module.lmms):
    """A wrapper of the host that takes texts and has rounds."""

    def loglikelihood(self, requests): ...

    def generate_until(self, requests): ...

    def generate_until_multi_round(self, requests):
        return [self.generate_until([request]) for request in requests]


class Unwritten(Texts):
    """As most of the host's are."""

    def generate_until_multi_round(self, requests):
        raise NotImplementedError("TODO: Implement multi-round generation")


class Messages(Texts):
    """Takes messages and inherits rounds of texts."""

    is_simple = False


class Both(Messages):
    """Takes messages, in rounds too."""

    def generate_until_multi_round(self, requests):
        return [self.generate_until([request]) for request in requests]


@pytest.mark.parametrize(
    ("kind", "has"), [(Texts, True), (Unwritten, False), (Messages, False), (Both, True)]
)
def test_tasks_in_rounds_refuse_a_wrapper_without(mfe, kind, has):
    lm = kind()  # under the name that the host's evaluation gives it
    rows = rows_of("mfe", "conversation")
    assert len(mfe.process_docs(rows)) == 5
    assert mfe._wrapper.delivery.current.messages is not lm.is_simple
    if has:
        assert len(mfe.process_dialogues_in_rounds(rows)) == 1
    else:
        with pytest.raises(SystemExit, match=f"asked in rounds, which the host's wrapper {kind.__name__} "):
            mfe.process_dialogues_in_rounds(rows)


# -- what has to be installed ------------------------------------------------------------------------


def test_the_requirements_are_those_of_this_package():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for requirement in [one for listed in REQUIREMENTS.values() for one in listed]:
        assert (
            f'"{requirement.replace(chr(39), chr(34))}"' in text.replace("'", '"') or requirement == "loguru"
        )


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_list_in_the_documentation_is_right(benchmark):
    cells = []
    for host in HOSTS.values():
        files = upstream.tasks_for(benchmark, host)
        needed = closure.closure(upstream.modules_of(files, host), upstream.STAND_INS)
        listed = [Requirement(one).name for one in host.requirements(needed.packages)]
        cells.append(", ".join(name for name in listed if name != "tomli") if files.texts else "no tasks")
    text = (ROOT / "docs" / "contributing_upstream.md").read_text(encoding="utf-8")
    assert f"| {benchmark} | {' | '.join(cells)} |" in text


@pytest.mark.parametrize(("host", "benchmark"), PLACES)
def test_every_package_that_is_imported_is_accounted_for(host, benchmark):
    host = HOSTS[host]
    modules = upstream.modules_of(upstream.tasks_for(benchmark, host), host)
    assert closure.closure(modules, upstream.STAND_INS).packages <= set(REQUIREMENTS) | OPTIONAL


def test_no_code_of_retrieval_is_exported(exported):
    assert not list(exported.glob("*/*/_finance/rag*"))


def test_a_stand_in_takes_the_place_of_a_module():
    needed = closure.closure(["lmms_eval_finance.tasks.mfe.utils"], upstream.STAND_INS)
    assert needed.files["lmms_eval_finance.data.sources"].parent.name == "export"


# -- the hosts without this package ------------------------------------------------------------------


def closed(roots):
    """Names of the distributions that the requirements bring in."""
    found, waiting = {}, [Requirement(root) for root in roots]
    while waiting:
        wanted = waiting.pop()
        key = (re.sub(r"[-_.]+", "-", wanted.name).lower(), frozenset(wanted.extras))
        if key in found or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        try:
            found[key] = importlib.metadata.distribution(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            continue
        for line in found[key].requires or []:
            needed = Requirement(line)
            extras = wanted.extras or {""}
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                needed.marker = None
                waiting.append(needed)
    return found.values()


def link(folder, requirements):
    """Make what the requirements bring in importable from a folder."""
    for found in closed(requirements):
        for entry in {Path(str(file)).parts[0] for file in found.files or []}:
            source = Path(str(found.locate_file(entry)))
            if entry not in ("..", "__pycache__") and source.exists() and not (folder / entry).exists():
                (folder / entry).symlink_to(source)


@pytest.fixture(scope="module")
def bare(exported, tmp_path_factory):
    """bare(host) -> python of an environment with that host and what the READMEs name, not this package."""

    def build(host, root):
        declared = {
            requirement
            for readme in (exported / host).glob("*/README.md")
            for requirement in re.findall(
                r'"([^"]+)"', re.search(r"pip install (.+)", readme.read_text(encoding="utf-8"))[1]
            )
        }
        folder = tmp_path_factory.mktemp(host)
        venv.create(folder, with_pip=False, symlinks=True)
        (site,) = folder.glob("lib/python*/site-packages")
        # filelock stands for the host's own trouble with its newest release; pandas and such come with hosts.
        link(site, [root, "filelock<4.3", *declared])
        python = folder / "bin" / "python"
        hidden = "import importlib.util as u, sys; sys.exit(u.find_spec('lmms_eval_finance') is not None)"
        assert subprocess.run([python, "-c", hidden], cwd=folder, check=False).returncode == 0
        return python

    return build


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A working directory that holds the sample under the names of the hub's data sets."""
    folder = tmp_path_factory.mktemp("beside")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
        import datasets

        for benchmark, hub in (("finmme", "luojunyu/FinMME"), ("famma", "weaverbirdllm/famma")):
            about = sources.benchmark(benchmark)
            loaded = {split: sources.locate(benchmark, split).load() for split in about.splits}
            features = datasets.Features(
                {name: kind for rows in loaded.values() for name, kind in rows.features.items()}
            )
            (folder / hub / "data").mkdir(parents=True)
            for split, rows in loaded.items():
                for name in set(features) - set(rows.column_names):
                    rows = rows.add_column(name, [None] * len(rows))
                rows.select_columns(list(features)).cast(features).to_parquet(
                    folder / hub / "data" / f"{split}-00000-of-00001.parquet"
                )
    return folder


REPLIES = (
    "Answer: A",
    "Answer: B",
    *("Oui", "Non", "Vrai", "Faux"),
    '{"q1": {"answer": "A"}, "q2": {"answer": "B"}, "q3": {"answer": "C"}}',
    "Answer: 12.5",
    "The answer is B and C.",
    '{"1": {"answer": "B", "explanation": "x"}, "2": {"answer": "Yes", "explanation": "y"}}',
    '[{"bbox": [100, 100, 300, 300], "label": "company"}]',
    "<table><tr><td>1</td><td>2</td></tr></table>",
    r"\frac{a}{b}",
    '{"name": "x"}',
    '{"title": "t", "content": "c", "next_action": "continue"}',
    '{"title": "t", "content": "c", "next_action": "final answer"}',
    "",
)


@pytest.fixture(scope="module")
def server():
    from openai_server import OpenAIServer

    def reply(body):
        """One of a few answers, decided by the whole request: only the same requests get the same."""
        asked = json.dumps(body["messages"], sort_keys=True)
        return REPLIES[int(hashlib.sha256(asked.encode()).hexdigest(), 16) % len(REPLIES)]

    with OpenAIServer(reply) as running:
        yield running


def evaluate(python, module, include, tasks, model, folder, out, environment):
    """The results of a run of a host in an environment."""
    done = subprocess.run(
        [
            *(python, "-m", module, *model, "--include_path", include, "--tasks", ",".join(tasks)),
            *("--output_path", out, "--log_samples"),
        ],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    found = sorted(Path(out).glob("**/*results*.json"))
    assert found, done.stdout[-6000:]
    return json.loads(found[-1].read_text(encoding="utf-8"))


def figures(results, task):
    return {
        key.partition(",")[0]: value
        for key, value in results["results"][task].items()
        if "," in key and "_stderr" not in key
    }


RUNS = (
    (
        *("finmme_finscore", "finmme_prompts", "famma", "famma_single"),
        *("famma_dynamic_cot", "famma_dynamic_cot_txt", "mfe"),
        *("cfmme", "cfmme_qa_table_html", "cfmme_qa_rot90"),
    ),
    # The host takes no two groups that share a task.
    ("mfe_144dpi",),
)


@pytest.fixture(scope="module")
def environment(host_environment):
    kept = {
        key: value for key, value in host_environment().items() if not key.startswith("LMMS_EVAL_FINANCE_")
    }
    return {**kept, "OPENAI_API_KEY": "none"}


def samples(out, task):
    """The lines of a task's sample file, in the order of the docs, whose pictures lie in different places."""
    (found,) = [*Path(out).glob(f"**/*_samples_{task}.jsonl"), *Path(out).glob(f"**/samples_{task}_2*.jsonl")]
    lines = [json.loads(line) for line in found.read_text(encoding="utf-8").splitlines()]
    kept = [{key: value for key, value in line.items() if key not in ("doc", "doc_hash")} for line in lines]
    return sorted(kept, key=lambda line: line["doc_id"])


@pytest.fixture(scope="module")
def lmms_eval_alone(bare):
    """Python of an environment with lmms-eval and without this package."""
    return bare("lmms-eval", "lmms-eval")


@pytest.mark.host
@pytest.mark.parametrize("tasks", RUNS, ids=["all", "144dpi"])
def test_lmms_eval_alone_gives_the_plugins_figures(
    exported, lmms_eval_alone, beside, host_environment, environment, tmp_path, tasks
):
    """The host's vLLM wrapper follows its protocol of rounds; the plugin drives them itself."""
    (tmp_path / "replies.json").write_text(json.dumps(REPLIES), encoding="utf-8")
    stub = {"PYTHONPATH": str(STUBS), "VLLM_STUB_REPLIES": str(tmp_path / "replies.json")}
    model = ("--model", "vllm", "--model_args", "model=stub,max_new_tokens=1,max_model_len=4096")

    def run(whose, python, include, variables):
        record = tmp_path / f"{whose}.jsonl"
        variables = {**variables, **stub, "VLLM_STUB_RECORD": str(record)}
        found = evaluate(
            *(python, "lmms_eval", include, tasks, model, beside, tmp_path / whose),
            variables,
        )
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
        return found, Counter(json.dumps(said) for line in lines for said in line.get("messages", []))

    theirs, asked_there = run("theirs", lmms_eval_alone, exported / "lmms-eval", environment)
    ours, asked_here = run("ours", sys.executable, registry.FOLDER, host_environment())
    assert asked_there == asked_here
    assert set(theirs["results"]) == set(ours["results"])
    for task in ours["results"]:
        assert figures(theirs, task) == pytest.approx(figures(ours, task), nan_ok=True), task
    configs = ours["configs"]
    in_rounds = [task for task in configs if configs[task]["output_type"] == "generate_until_multi_round"]
    for task in configs:
        there, here = (samples(tmp_path / whose, task) for whose in ("theirs", "ours"))
        assert there == here, task  # records with their signatures among it
        assert "@" in json.dumps(here).partition("data:")[2][:60]
    assert any(figures(ours, task).get("accuracy") for task in configs)
    rounds = {len(line["filtered_resps"]) for task in in_rounds for line in samples(tmp_path / "ours", task)}
    assert max(rounds) > 1


@pytest.mark.host
def test_a_wrapper_of_texts_gives_the_plugins_replies_in_rounds(
    exported, lmms_eval_alone, beside, host_environment, environment, tmp_path
):
    """It returns tuples, and takes each round's images from the hook; the plugin drives the rounds itself."""
    from random_models import build_qwen2_5_vl

    pytest.importorskip("decord", reason="decord, which this wrapper imports, is not installed")
    folder = build_qwen2_5_vl(tmp_path / "model")
    (tmp_path / "needed").mkdir()
    link(tmp_path / "needed", ["decord", "qwen-vl-utils"])  # by this wrapper, whatever the task
    environment = {**environment, "PYTHONPATH": str(tmp_path / "needed")}
    model = ("--model", "qwen2_5_vl", "--force_simple", "--device", "cpu", "--gen_kwargs", "max_new_tokens=4")
    model += ("--model_args", f"pretrained={folder},device_map=cpu", "--limit", "1")
    tasks = ("mfe_conversation",)
    for whose, python, include, variables in (
        ("theirs", lmms_eval_alone, exported / "lmms-eval", environment),
        ("ours", sys.executable, registry.FOLDER, host_environment()),
    ):
        evaluate(python, "lmms_eval", include, tasks, model, beside, tmp_path / whose, variables)
    theirs, ours = (
        [
            # Here the host strips replies that come as texts of their own.
            {**item, "response": item["response"].strip()}
            for line in samples(tmp_path / whose, tasks[0])
            for item in line["accuracy"]["items"]
        ]
        for whose in ("theirs", "ours")
    )
    assert theirs == ours
    assert len({item["response"] for item in ours}) > 1
    assert "history:own-as-text" in theirs[0]["signature"]


@pytest.mark.host
def test_a_wrapper_without_rounds_is_one_message_and_nothing_is_generated(
    exported, lmms_eval_alone, beside, environment, tmp_path
):
    from openai_server import OpenAIServer

    with OpenAIServer() as unasked:
        done = subprocess.run(
            [
                *(lmms_eval_alone, "-m", "lmms_eval", "--model", "openai"),
                *("--model_args", f"model_version=test,base_url={unasked.url},api_key=none"),
                *("--include_path", exported / "lmms-eval", "--tasks", "mfe", "--output_path", tmp_path),
            ],
            cwd=beside,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert "asked in rounds, which the host's wrapper OpenAICompatible" in done.stderr.splitlines()[-1]
    assert not unasked.requests


@pytest.mark.host
def test_lm_eval_alone_gives_the_plugins_figures(
    exported, bare, beside, server, host_environment, environment, tmp_path
):
    tasks = ("famma_txt", "mfe_text", "cfmme_qa_table_html", "cfmme_subject_text")
    model = ("--model", "local-chat-completions", "--apply_chat_template", "--model_args")
    model += (f"model=test,base_url={server.url}/chat/completions,num_concurrent=4,tokenizer_backend=None",)
    python = bare("lm-eval", "lm-eval[api]")
    theirs = evaluate(
        python, "lm_eval", exported / "lm-eval", tasks, model, beside, tmp_path / "theirs", environment
    )
    ours = evaluate(
        *(sys.executable, "lm_eval", ROOT / "lmms_eval_finance" / "lm_eval", tasks, model, beside),
        *(tmp_path / "ours", host_environment(OPENAI_API_KEY="none")),
    )
    for task in tasks:
        assert figures(theirs, task) == pytest.approx(figures(ours, task), nan_ok=True), task
        assert figures(theirs, task)
        assert samples(tmp_path / "theirs", task) == samples(tmp_path / "ours", task)


# -- the place -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_a_checkout_takes_the_tasks_among_its_own(tmp_path, host):
    tasks = tmp_path / HOSTS[host].tasks
    (tasks / "other").mkdir(parents=True)
    assert main(["export", "upstream", str(tmp_path), "--host", host, "--benchmark", "mfe"]) == 0
    assert (tasks / "mfe" / "utils.py").is_file()
    assert not (tasks / "mfe" / "data").exists()
    before = sorted(path.name for path in (tasks / "mfe").iterdir())
    with pytest.raises(SettingError, match="is there already"):
        upstream.export("mfe", HOSTS[host], tasks)
    assert sorted(path.name for path in (tasks / "mfe").iterdir()) == before


def test_benchmarks_can_be_added_one_by_one_and_none_is_written_where_one_is_there(tmp_path, capsys):
    place = tmp_path / "x"
    for name in ("mfe", "famma"):
        assert main(["export", "upstream", str(place), "--host", "lm-eval", "--benchmark", name]) == 0
    assert sorted(path.name for path in place.iterdir()) == ["famma", "mfe"]
    assert main(["export", "upstream", str(place), "--host", "lm-eval"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert sorted(path.name for path in place.iterdir()) == ["famma", "mfe"]


@pytest.mark.parametrize("taken", ["file", "folder"])
def test_a_place_that_is_neither_checkout_nor_empty_is_refused(tmp_path, capsys, taken):
    place = tmp_path / "x"
    if taken == "file":
        place.write_text("")
    else:
        (place / "y").mkdir(parents=True)
    assert main(["export", "upstream", str(place)]) == 2
    assert "neither a checkout of lmms-eval" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_one_message(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["export", "upstream", str(tmp_path / "file" / "x"), "--benchmark", "mfe"]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_benchmark_without_tasks_for_the_host_is_an_error(tmp_path, capsys):
    place = str(tmp_path / "x")
    asked = ("--benchmark", "mfe", "--benchmark", "finmme")
    assert main(["export", "upstream", place, "--host", "lm-eval", *asked]) == 2
    assert "lm-eval has no task of finmme" in capsys.readouterr().err


def test_data_that_cannot_be_found_leave_no_folder_behind(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("LMMS_EVAL_FINANCE_DATA", raising=False)
    place = tmp_path / "x"
    assert main(["export", "upstream", str(place), "--with-data"]) == 2
    assert "no copy on the hub" in capsys.readouterr().err
    assert not place.exists()
