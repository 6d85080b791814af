"""A page about work under way, to watch in a browser: jobs done, running and failed, how fast, and when it will end.

It is written as jobs come in, in one piece, and not more often than every few seconds; a browser reads it anew by
itself until the page says that the work has ended. There is no page until there is something to tell: a folder that
turns out to be somebody else's stays untouched.
"""

from __future__ import annotations

import html
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wlhn.evaluation.progress import Pace, Progress
from wlhn.files import write_text
from wlhn.report.html import html_body, html_page
from wlhn.report.markdown import TableBlock, duration, literal

REST = 2.0  # seconds at least between two writes
REFRESH = 5  # seconds after which a browser reads the page anew


@dataclass
class Part:
    """A line of the page: one phase of an evaluation, or one cell of a table."""

    progress: Progress | None = None
    state: str = "waiting"
    result: str = ""


class LivePage:
    """The page; `update` and `end_part` say what happens, `close` says the last word."""

    def __init__(self, path: Path | None, title: str, parts: Sequence[str] = ()) -> None:
        self.path, self.title, self.result = path, title, ""
        self.parts = {name: Part() for name in parts}
        self.current: str | None = None
        self.pace = Pace("job")
        self.begun, self.written = time.time(), 0.0

    def update(self, name: str, progress: Progress) -> None:
        """How far a part has come."""
        part = self.parts.setdefault(name, Part())
        if name != self.current or part.progress is None or part.progress.phase != progress.phase:
            self.pace, self.written = Pace("job"), 0.0  # something new begins: that is shown at once
        if self.current not in (None, name) and self.parts[self.current or ""].state == "running":
            self.parts[self.current or ""].state = "done"
        self.current, part.progress, part.state = name, progress, "running"
        self.pace.per_second(progress.ended)
        self._write_now_and_then()

    def end_part(self, name: str, state: str, result: str) -> None:
        """What became of a part, or of all parts of a data set: done, failed or skipped."""
        for each in [known for known in self.parts if known.startswith(f"{name}, ")] or [name]:
            part = self.parts.setdefault(each, Part())
            part.state, part.result = state, result
        if self.current is not None:
            self._write_now_and_then()

    def close(self, state: str, result: str) -> None:
        """The work has ended: finished, failed or interrupted."""
        if self.current is None:
            return  # nothing was done here
        if self.parts[self.current].state == "running":
            self.parts[self.current].state = {"finished": "done"}.get(state, state)
        self._write(state, result)

    def _write_now_and_then(self) -> None:
        if time.monotonic() - self.written >= REST or not self.written:
            self._write("running")

    def _write(self, state: str, result: str = "") -> None:
        if self.path is None:
            return
        text = html_page(self.title, self._body(state, result), refresh=REFRESH if state == "running" else None)
        write_text(self.path, text)
        self.written = time.monotonic()

    def _body(self, state: str, result: str) -> str:
        progress = self.parts[self.current or ""].progress
        assert progress is not None
        doing = dict.fromkeys((self.current or "", progress.phase))  # of an evaluation the same
        said = f"Running: {', '.join(doing)}" if state == "running" else state.capitalize()
        parts = [
            f"<h1>{html.escape(self.title)}</h1>",
            f'<p class="state {state}"><strong>{html.escape(said)}</strong> {html.escape(result)}</p>',
            _bar(progress, state == "running"),
            _facts(self._facts(progress, state == "running")),
        ]
        if state == "running":
            speed = self.pace.per_second(progress.ended)
            job = progress.parallel_jobs / speed if speed else 0.0
            parts.append(
                f'<p>Written <span data-written="{time.time():.0f}" data-job="{job:.0f}">{_clock(time.time())}</span>; '
                "this page reads itself anew as long as jobs run.</p>"
                '<p id="silent" hidden>It has been silent for long: either a job takes unusually long, or the command '
                "was stopped. Given again, it goes on where it was.</p>"
            )
        rows = [[literal(name), part.state, _jobs(part), literal(part.result)] for name, part in self.parts.items()]
        table = html_body([TableBlock(["part", "state", "jobs", "result"], rows)])
        return "\n".join([*parts, f'<div class="long">{table}</div>'])

    def _facts(self, progress: Progress, running: bool) -> dict[str, str]:
        now = progress.running if running else 0
        facts = {
            "jobs done": f"{progress.done} of {progress.total}",
            "running": str(now),
            "failed": str(progress.failed),
            "waiting": str(progress.total - progress.ended - now + progress.after),
        }
        if len(self.parts) > 1:
            ended = sum(part.state not in ("waiting", "running") for part in self.parts.values())
            facts["parts ended"] = f"{ended} of {len(self.parts)}"
        if not running:
            return facts | {"took": duration(time.time() - self.begun), "ended": _clock(time.time())}
        speed = self.pace.per_second(progress.ended)
        left = progress.total - progress.ended + progress.after
        more = sum(part.state == "waiting" for part in self.parts.values())
        end = _clock(time.time() + left / speed) if speed else "not known yet"
        return facts | {
            "rate": self.pace.rate(progress.ended) if speed else "not known yet",
            "expected end" + (" of this part" if more else ""): end,
        }


@contextmanager
def live_page(path: Path | None, title: str, parts: Sequence[str] = ()) -> Iterator[LivePage]:
    """A page for as long as the block runs; how the block ends is its last word, `result` what came of it.

    Without a path there is none.
    """
    page = LivePage(path, title, parts)
    try:
        yield page
    except KeyboardInterrupt:
        page.close("interrupted", "Given again, the command goes on where it was.")
        raise
    except Exception as error:
        page.close("failed", str(error))
        raise
    failed = sum(part.state == "failed" for part in page.parts.values())
    page.close("failed" if failed else "finished", f"{failed} of {len(page.parts)} parts" if failed else page.result)


def _bar(progress: Progress, running: bool) -> str:
    whole = max(progress.total, 1)
    widths = {"done": progress.done, "failed": progress.failed, "running": progress.running if running else 0}
    spans = "".join(f'<span class="{name}" style="width:{100 * n / whole:.2f}%"></span>' for name, n in widths.items())
    label = f"{progress.done} of {progress.total} jobs done, {progress.failed} failed"
    return f'<div class="bar" role="img" aria-label="{label}">{spans}</div>'


def _facts(facts: dict[str, str]) -> str:
    inside = "".join(
        f'<div><dt>{name}</dt><dd id="{name.replace(" ", "-")}">{v}</dd></div>' for name, v in facts.items()
    )
    return f'<dl class="facts">{inside}</dl>'


def _jobs(part: Part) -> str:
    if part.progress is None:
        return ""
    shown = f"{part.progress.done} of {part.progress.total}"
    return shown + (f", {part.progress.failed} failed" if part.progress.failed else "")


def _clock(at: float) -> str:
    """The time of day; with the date, where it is another one."""
    then, now = time.localtime(at), time.localtime()
    return time.strftime("%H:%M" if then[:3] == now[:3] else "%Y-%m-%d %H:%M", then)
