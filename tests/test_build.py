"""The package as others get it: sdist and wheel built, the wheel run in an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.build, pytest.mark.host]

ROOT = Path(__file__).resolve().parents[1]


def run(*command, **options):
    done = subprocess.run(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The tracked files alone, so that nothing lying about here gets in."""
    folder = tmp_path_factory.mktemp("tree") / "source"
    for name in run("git", "ls-files", "-z", cwd=ROOT).split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def dist(tree):
    run(sys.executable, "-m", "build", "--no-isolation", tree)
    return tree / "dist"


def packaged_files():
    """Tracked files that belong into the package, under the names they have when installed."""
    for name in run("git", "ls-files", "-z", cwd=ROOT).split("\0"):
        top = name.partition("/")[0]
        if top == "lmms_eval_finance":
            yield name
        elif top in ("metrics", "tasks"):
            yield f"lmms_eval_finance/{name}"


def test_the_wheel_holds_every_file_of_the_package_and_no_other(dist):
    (wheel,) = dist.glob("*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert inside == set(packaged_files())


def test_the_sdist_builds_the_same_wheel(dist, tmp_path):
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data") if hasattr(
            tarfile, "data_filter"
        ) else archive.extractall(tmp_path)
    (source,) = tmp_path.iterdir()
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", source)
    (wheel,), (rebuilt,) = dist.glob("*.whl"), (source / "dist").glob("*.whl")
    assert sorted(zipfile.ZipFile(wheel).namelist()) == sorted(zipfile.ZipFile(rebuilt).namelist())


@pytest.fixture(scope="module")
def fresh(dist, tmp_path_factory):
    """A new environment with the wheel; third-party packages are lent by links, ours is not."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "lmms_eval_finance" not in entry.name.replace("-", "_") and not (site / entry.name).exists():
            (site / entry.name).symlink_to(entry)
    (wheel,) = dist.glob("*.whl")
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-deps", "--no-index", wheel)
    for name in ("lmms-eval", "accelerate"):
        script = (Path(sys.executable).parent / name).read_text(encoding="utf-8")
        (folder / "bin" / name).write_text(f"#!{python}\n" + script.split("\n", 1)[1], encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)
    return folder


def test_a_task_is_found_and_run_there_by_the_plain_command(fresh, tmp_path, host_environment):
    where = run(
        fresh / "bin" / "python", "-c", "import lmms_eval_finance as p; print(p.__file__)", cwd=tmp_path
    )
    assert str(fresh) in where
    run(
        *(fresh / "bin" / "lmms-eval", "--model", "dummy", "--tasks", "finmme_finscore", "--limit", "8"),
        *("--output_path", "out", "--log_samples"),
        cwd=tmp_path,
        env={**host_environment(), "PATH": f"{fresh}/bin:{os.environ['PATH']}"},
    )
    assert list(tmp_path.glob("out/**/*_results.json"))
    (samples,) = tmp_path.glob("out/**/*_samples_finmme_finscore.jsonl")
    assert len(samples.read_text(encoding="utf-8").splitlines()) == 8


def test_the_command_line_works_there(fresh, tmp_path, host_environment):
    command = fresh / "bin" / "lmms-eval-finance"
    assert str(fresh) in run(command, "path", cwd=tmp_path)
    assert "26 rows" in run(command, "data", "check", "finmme", cwd=tmp_path, env=host_environment())
