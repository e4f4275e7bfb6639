"""``lmms-eval-finance doctor``: what works here, what does not, and what to do about it."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Literal

from packaging.requirements import Requirement

from lmms_eval_finance import plugin, prompts, settings
from lmms_eval_finance.data import errata, selection, sources
from lmms_eval_finance.data.schemas import BENCHMARKS, benchmark
from lmms_eval_finance.judging import config as judges
from lmms_eval_finance.rag import index as indices
from lmms_eval_finance.tasks.cfmme import coordinates

SETTINGS = ("COORDINATES", "DATA", "ERRATA", "IDS", "JUDGES", "PROMPTS", "RAG", "REQUIRE_JUDGE")


@dataclass(frozen=True)
class Finding:
    """One thing looked at: fine, a note (something optional is not there), or a problem."""

    state: Literal["ok", "note", "problem"]
    what: str
    fix: str = ""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--quick", action="store_true", help="leave the host unloaded: no look at task routes"
    )


def run(args: argparse.Namespace) -> int:
    """Print what was found; 1 when there is a problem (notes are none)."""
    findings = []
    for finding in examine(quick=args.quick):
        findings.append(finding)
        if not args.json:
            print(
                f"{finding.state:8} {finding.what}"
                + (f"\n         fix: {finding.fix}" if finding.fix else "")
            )
    if args.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=2))
    return int(any(finding.state == "problem" for finding in findings))


def examine(*, quick: bool = False) -> Iterator[Finding]:
    """Look at versions, extras, settings, task routes, data and judges, in this order."""
    yield Finding("ok", f"Python {platform.python_version()}")
    yield from _hosts()
    yield from _requirements()
    yield from _settings()
    if not quick:
        yield from _routes()
    yield from _data()
    yield from _judges()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _hosts() -> Iterator[Finding]:
    version = _version("lmms-eval")
    if version is None:
        yield Finding("problem", "lmms-eval is not installed", "pip install lmms-eval")
    elif plugin.untested(version):
        tested = ".".join(map(str, plugin.TESTED[1]))
        yield Finding(
            "note", f"lmms-eval {version} is outside the tested range", f"pip install lmms-eval=={tested}"
        )
    else:
        yield Finding("ok", f"lmms-eval {version}")
    text_host = _version("lm-eval")
    if text_host:
        yield Finding("ok", f"lm-eval {text_host}")


def _requirements() -> Iterator[Finding]:
    """What this package asks for against what is installed, per extra."""
    missing: dict[str, list[str]] = {}
    for line in metadata.requires("lmms-eval-finance") or []:
        requirement = Requirement(line)
        extra = _extra_of(requirement)
        if extra in ("test", "dev"):
            continue
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        version = _version(requirement.name)
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            missing.setdefault(extra, []).append(
                f"{requirement.name}{requirement.specifier} (installed: {version})"
            )
        else:
            missing.setdefault(extra, [])
    for extra, packages in missing.items():
        name = f"extra {extra}" if extra else "required packages"
        if not packages:
            yield Finding("ok", f"{name}: complete")
        elif extra:
            yield Finding("note", f"{name}: not installed", f'pip install "lmms-eval-finance[{extra}]"')
        else:
            yield Finding(
                "problem", f"{name}: {', '.join(packages)}", "pip install --upgrade lmms-eval-finance"
            )


def _extra_of(requirement: Requirement) -> str:
    _, found, rest = str(requirement.marker or "").partition("extra ==")
    return rest.strip().strip("\"'").split('"')[0].split("'")[0] if found else ""


def _settings() -> Iterator[Finding]:
    for name in sorted(os.environ):
        short = name.removeprefix(settings.PREFIX)
        if short != name and short not in SETTINGS:
            known = ", ".join(settings.PREFIX + setting for setting in SETTINGS)
            yield Finding("problem", f"{name} is no setting of this package", f"use one of {known}")
    for what, read in (
        ("COORDINATES", coordinates.configured),
        ("IDS", selection.wanted_ids),
        ("ERRATA", lambda: [errata.load(name) for name in BENCHMARKS]),
        ("PROMPTS", lambda: [prompts.load(name) for name in prompts.names()]),
        ("RAG", lambda: indices.configured() if settings.value("RAG") else None),
        ("REQUIRE_JUDGE", lambda: settings.flag("REQUIRE_JUDGE")),
    ):
        try:
            read()
        except settings.SettingError as error:
            yield Finding("problem", str(error), f"correct or unset {settings.PREFIX}{what}")
        else:
            if settings.value(what) is not None:
                yield Finding("ok", f"{settings.PREFIX}{what}={settings.value(what)}")


def _routes() -> Iterator[Finding]:
    try:
        found = plugin.routes()
    except Exception as error:  # the host itself may fail to import in any way
        yield Finding(
            "problem", f"lmms-eval cannot be loaded: {error!r}", "pip install --upgrade lmms-eval-finance"
        )
        return
    for route, problem in found.items():
        count = len(plugin.index())
        yield (
            Finding("problem", f"{route}: {problem}") if problem else Finding("ok", f"{route}: {count} names")
        )


def _data() -> Iterator[Finding]:
    for name in BENCHMARKS:
        about = benchmark(name)
        for split in about.splits:
            try:
                source = sources.locate(name, split)
            except sources.DataError as error:
                # Without a setting nobody claimed that the data are here.
                state: Literal["note", "problem"] = "problem" if settings.value("DATA") else "note"
                message, _, rest = str(error).partition("; ")
                yield Finding(state, f"data of {about.title}/{split}: {message}", rest)
                break
            where = f"revision {source.revision[:12]}" if source.kind == "hub" else source.location
            yield Finding("ok", f"data of {about.title}/{split}: {source.count} rows, {source.kind} {where}")


def _judges() -> Iterator[Finding]:
    try:
        panel = judges.configured()
    except settings.SettingError as error:
        yield Finding("problem", str(error), "see docs/judging.md")
        return
    if panel is None:
        yield Finding("ok", "judges: none configured, open answers go to the rule judge alone")
    else:
        names = ", ".join(judge.name for judge in panel.judges)
        yield Finding("ok", f"judges: {names} ({panel.path})")
