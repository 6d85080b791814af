"""What all our figures share: size, quiet axes, colours that the colour-blind can tell apart, files that are whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wlhn.errors import InputError
from wlhn.files import replacing
from wlhn.words import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, without its yellow, which is lost on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#4D4D4D")
MARKERS = "os^Dv<>"  # as many, so that lines can be told apart without colours
AGAINST, FOR = "#0072B2", "#D55E00"  # the two ends of a scale that has a middle


def new_figure(width: float, height: float) -> Figure:
    """A figure that knows nothing of windows or of other figures."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def quiet(axes: Axes) -> Axes:
    """Axes without the frame's upper and right side."""
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def bare(axes: Axes) -> Axes:
    """Axes of a drawing: nothing but what is drawn, one unit as long across as up."""
    axes.set_axis_off()
    axes.set_aspect("equal")
    return axes


def shades(count: int) -> Sequence[str]:
    """So many colours: the palette, or, where it is too small, evenly spaced steps from dark to light.

    >>> shades(2)
    ('#0072B2', '#E69F00')
    >>> len(set(shades(40)))
    40
    """
    if count <= len(PALETTE):
        return PALETTE[:count]
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["viridis"](k / (count - 1))) for k in range(count)]


def plain(name: object, length: int = 40) -> str:
    """A name from data as text: matplotlib would read a pair of dollars as mathematics; long names are cut.

    >>> plain("$x$"), plain("a" * 50, length=5)
    ('\\\\$x\\\\$', 'aaaa…')
    """
    return shortened(str(name), length).replace("$", r"\$")


def write_figure(figure: Figure, path: str | Path) -> None:
    """Write to an .svg or a .png, the same bytes for the same figure."""
    from matplotlib import rc_context

    path = Path(path)
    if path.suffix not in (".svg", ".png"):
        raise InputError(f"{path}: the name must end in .svg or .png")
    with rc_context({"svg.hashsalt": "wlhn"}), replacing(path) as draft:
        figure.savefig(draft, dpi=300, metadata={"Date": None} if path.suffix == ".svg" else None)


def in_both_formats(path: Path) -> tuple[Path, Path]:
    """The picture's names as SVG and as PNG.

    >>> [path.name for path in in_both_formats(Path("tree"))]
    ['tree.svg', 'tree.png']
    """
    return path.with_suffix(".svg"), path.with_suffix(".png")
