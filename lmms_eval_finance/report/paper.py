"""All tables that runs allow, in the papers' order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmms_eval_finance.report import cfmme, famma, finmme, mfe
from lmms_eval_finance.report.models import Models, tasks_of
from lmms_eval_finance.report.table import Table
from lmms_eval_finance.runs.errors import ErrorItem


def paper_tables(
    models: Models, errors: Mapping[str, Sequence[ErrorItem]] | None = None
) -> dict[str, list[Table]]:
    """Benchmark -> its tables, for the benchmarks that occur.

    Args:
        models: the runs.
        errors: model -> the analysis of its errors, where there is one.

    Raises:
        SettingError: a task and its variant with another picture were scored under different conditions.
    """
    found = {
        "finmme": finmme.tables(models) if tasks_of(models, "finmme") else [],
        "famma": famma.tables(models, errors or {}) if tasks_of(models, "famma") else [],
        "mfe": mfe.tables(models) if tasks_of(models, "mfe_") else [],
        "cfmme": cfmme.tables(models) if tasks_of(models, "cfmme_") else [],
    }
    return {benchmark: tables for benchmark, tables in found.items() if tables}
