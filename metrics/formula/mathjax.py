"""The engine "mathjax": MathJax in a V8 isolate in the process, without Node and without TeX.

V8 comes from the package mini-racer, MathJax's files from django-static-mathjax (which
needs no Django). An isolate has neither files nor network. Isolates stay warm, are
renewed after a number of formulas (MathJax keeps a few kilobytes of each) and after
anything that stopped one; a forked process starts its own.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib.metadata
import importlib.util
import json
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

from lmms_eval_finance.metrics.formula.glyphs import (
    MAX_CHARACTERS,
    MAX_GLYPHS,
    EngineError,
    Layout,
    glyphs_of,
)
from lmms_eval_finance.metrics.outcomes import Outcome

TIME_LIMIT = 5.0
"""Seconds of one call; the longest formula that is let in takes less than one."""
_MEMORY_LIMIT = 512 * 1024 * 1024
_FORMULAS_AN_ISOLATE = 5000
_CALL_FORMULAS = 16
_ISOLATES = min(4, os.cpu_count() or 1)
# From this many formulas on, the start of further isolates pays.
_WORTH_SHARING = 1000

_INSTALL = "pip install mini-racer django-static-mathjax"
# Dependants follow what they need: enclose, newcommand and textmacros stand first.
_EXTENSIONS = (
    "enclose", "newcommand", "textmacros", "ams", "boldsymbol", "braket", "cancel", "mathtools",
    "textcomp", "upgreek", "unicode", "gensymb", "color", "html",
)  # fmt: skip
_COMPONENTS = (
    "core.js",
    "adaptors/liteDOM.js",
    "input/tex-base.js",
    *(f"input/tex/extensions/{name}.js" for name in _EXTENSIONS),
    "output/svg.js",
    "output/svg/fonts/tex.js",
)
_KINDS = {
    **{kind: kind for kind in ("accent", "wide accent", "fraction", "radical", "enclose", "unknown")},
    **dict.fromkeys(("script", "bold-script", "-tex-calligraphic", "-tex-bold-calligraphic"), "script"),
    **dict.fromkeys(("fraktur", "bold-fraktur"), "fraktur"),
    "double-struck": "double-struck",
}


def version() -> str:
    """The version of MathJax's files, for signatures.

    Raises:
        EngineError: they are not installed.
    """
    try:
        return importlib.metadata.version("django-static-mathjax")
    except importlib.metadata.PackageNotFoundError as error:
        raise EngineError(f"formulas need MathJax's files: {_INSTALL}") from error


def layouts(sources: Sequence[str]) -> list[Layout]:
    """The layout of each cleaned source, in order.

    Raises:
        EngineError: mini-racer or MathJax's files are not installed.
    """
    shares = list(_shares(sources))
    if len(sources) < _WORTH_SHARING or _ISOLATES == 1:
        parts = [_layouts(share) for share in shares]
    else:
        with ThreadPoolExecutor(_ISOLATES) as threads:
            parts = list(threads.map(_layouts, shares))
    return [layout for part in parts for layout in part]


def drawing(source: str) -> str:
    """The SVG that MathJax draws of a cleaned source, in 1/1000 em; "" where it draws none.

    Its content follows the source, so it is as untrusted as the source.
    """
    if len(source) > MAX_CHARACTERS:
        return ""
    try:
        with _POOL.isolate() as isolate:
            return str(isolate.ask([source], draw=True)[0].get("svg", ""))
    except _StoppedError:
        return ""


class _StoppedError(Exception):
    """The isolate was stopped at the limit of time or memory, or gave up."""

    def __init__(self, problem: Outcome, message: str) -> None:
        super().__init__(message)
        self.layout = Layout(problem=problem, message=message)


def _shares(sources: Sequence[str]) -> Iterator[list[str]]:
    """The sources in calls that are long enough to be worth one and short enough for its limits."""
    share: list[str] = []
    for source in sources:
        if share and (len(share) == _CALL_FORMULAS or sum(map(len, share)) + len(source) > MAX_CHARACTERS):
            yield share
            share = []
        share.append(source)
    if share:
        yield share


def _layouts(sources: Sequence[str]) -> list[Layout]:
    if len(sources) == 1 and len(sources[0]) > MAX_CHARACTERS:
        return [Layout(problem=Outcome.TIMED_OUT, message=f"longer than {MAX_CHARACTERS} characters")]
    try:
        with _POOL.isolate() as isolate:
            answers = isolate.ask(sources, draw=False)
    except _StoppedError as stop:
        if len(sources) == 1:
            return [stop.layout]
        return [layout for source in sources for layout in _layouts([source])]
    return [_layout(answer) for answer in answers]


def _layout(answer: dict[str, Any]) -> Layout:
    if "error" in answer:
        name, message = answer["error"]
        over = name == "TooManyGlyphs"
        return Layout(problem=Outcome.TIMED_OUT if over else Outcome.UNREADABLE, message=message)
    return Layout(
        tuple(
            glyph
            for text, kind, place, *box in answer["glyphs"]
            for glyph in glyphs_of(text, _KINDS.get(kind, ""), place, tuple(value / 1000 for value in box))
        )
    )


class _Isolate:
    """One V8 isolate with MathJax loaded, for one thread at a time.

    V8 aborts the process, about once in fifty times, when the first isolates are made by
    several threads at once; `making` is held while one is made.
    """

    def __init__(self, making: threading.Lock) -> None:
        self._making = making
        self._formulas = 0
        self._broken = False
        # mini-racer attaches itself to a running event loop and then refuses blocking calls; a
        # thread of its own has none, also where the caller runs inside one.
        failure: list[BaseException] = []

        def start() -> None:
            try:
                self._start()
            except BaseException as error:
                failure.append(error)

        thread = threading.Thread(target=start, name="mathjax-start")
        thread.start()
        thread.join()
        if failure:
            raise failure[0]

    def _start(self) -> None:
        try:
            from py_mini_racer import MiniRacer
        except ImportError as error:
            raise EngineError(f"formulas need the package mini-racer: {_INSTALL}") from error
        folder = _files()
        with self._making:
            self.racer = MiniRacer()
        for name in _COMPONENTS:
            self.racer.eval(folder.joinpath(name).read_text(encoding="utf-8") + "\n;0")
        own = Path(__file__).with_name("mathjax.js").read_text(encoding="utf-8")
        self.racer.eval(f"const MAX_GLYPHS = {MAX_GLYPHS};\n{own}\n;0")

    @property
    def usable(self) -> bool:
        return not self._broken and self._formulas < _FORMULAS_AN_ISOLATE

    def ask(self, sources: Sequence[str], *, draw: bool) -> list[dict[str, Any]]:
        from py_mini_racer import JSEvalException, JSOOMException, JSTimeoutException

        self._formulas += len(sources)
        call = f"layouts({json.dumps(sources)},{json.dumps(draw)})"
        try:
            answer = self.racer.eval(call, timeout_sec=TIME_LIMIT, max_memory=_MEMORY_LIMIT)
        except JSTimeoutException as error:
            self._broken = True
            raise _StoppedError(Outcome.TIMED_OUT, f"took more than {TIME_LIMIT:g} seconds") from error
        except JSOOMException as error:
            self._broken = True
            message = f"took more than {_MEMORY_LIMIT >> 20} MiB"
            raise _StoppedError(Outcome.TIMED_OUT, message) from error
        except JSEvalException as error:
            self._broken = True
            raise _StoppedError(Outcome.UNREADABLE, str(error)[:200]) from error
        return list(json.loads(str(answer)))

    def close(self) -> None:
        if self._broken:
            # What was stopped still reports back; closing before that would leave it no one to tell.
            with contextlib.suppress(Exception):
                self.racer.eval("0", timeout_sec=TIME_LIMIT)
        self.racer.close()


class _Pool:
    """The warm isolates of this process, at most `_ISOLATES` at work at once."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._idle: list[_Isolate] = []
        self._lock = threading.Lock()
        self._making = threading.Lock()
        self._turn = threading.BoundedSemaphore(_ISOLATES)

    @contextlib.contextmanager
    def isolate(self) -> Iterator[_Isolate]:
        """An isolate for one formula; the wait for it comes before its time limit starts."""
        with self._turn:
            with self._lock:
                isolate = self._idle.pop() if self._idle else None
            isolate = isolate or _Isolate(self._making)
            try:
                yield isolate
            finally:
                if isolate.usable:
                    with self._lock:
                        self._idle.append(isolate)
                else:
                    isolate.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for isolate in idle:
            isolate.close()

    def leave(self) -> None:
        """Forget the isolates of the parent after a fork.

        Their threads did not come along, so closing one would wait for ever: an extra reference
        keeps the interpreter from trying at exit.
        """
        for isolate in self._idle:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(isolate.racer))
        self._reset()


_POOL = _Pool()
# An isolate that is still open when the interpreter tears down its threads would block the exit.
atexit.register(_POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOL.leave)


@lru_cache(maxsize=1)
def _files() -> Path:
    found = importlib.util.find_spec("mathjax")
    places = list(found.submodule_search_locations or ()) if found else []
    for place in places:
        folder = Path(place, "static", "mathjax", "es5")
        if folder.joinpath("core.js").is_file():
            return folder
    raise EngineError(f"formulas need MathJax's files: {_INSTALL}")
