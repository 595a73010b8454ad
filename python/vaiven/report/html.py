# SPDX-License-Identifier: BSD-3-Clause
"""Templates, figures and tables -> one HTML document that needs nothing else: no network, no other file.

Everything that came from a plan, a host or a run passes through jinja2's escaping, or stands as JSON in a data block
whose `<`, `>` and `&` are written as escapes. The document's own policy forbids every request and every script but
two, named by their digests: the page's own, and the plotting library, which is packed and which the first unpacks.
Until then, and where no script runs, each figure stands as a still picture (`plot.still`).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from vaiven import __version__
from vaiven.plot.interactive import Figure, themed
from vaiven.plot.still import still
from vaiven.report.widget import Widget

_TEMPLATES = Path(__file__).parent / "templates"
_LIBRARY = Path(__file__).parent / "vendored" / "plotly-basic.min.js"  # of npm's plotly.js-basic-dist-min, as it is


def document(template: str, widgets: Iterable[Widget], *, question: str, about: str, **values: Any) -> str:
    """The whole document as text; half a megabyte of it is the plotting library.

    template: extends base.html. widgets: all that it shows. question: the title. about: whose page it is, for the foot.
    """
    script = (_TEMPLATES / "page.js").read_text()
    figures = {widget.id: [choice.figure for choice in widget.choices] for widget in widgets}
    return (
        environment()
        .get_template(template)
        .render(
            question=question,
            about=about,
            css=Markup((_TEMPLATES / "page.css").read_text()),
            script=Markup(script),
            library=_packed_library(),
            digests=" ".join(f"'sha256-{_digest(one)}'" for one in (script, _LIBRARY.read_text())),
            data=Markup(script_json(figures)),
            version=__version__,
            **values,
        )
    )


def picture(figure: Figure, title: str) -> str:
    """A still picture as a file: it stands on white, wherever it is shown."""
    light = themed(figure, "light")
    return still(light | {"layout": light["layout"] | {"paper_bgcolor": "#ffffff"}}, title)


@lru_cache(maxsize=1)
def environment() -> jinja2.Environment:
    """The templates, with all that comes from elsewhere escaped."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["tied"] = tied
    found.filters["still"] = lambda figure: Markup(still(figure))
    return found


def tied(text: str) -> str:
    """The same words, with every number held to its unit at the end of a line."""
    return re.sub(r"(?<=[\d\]]) (?=%|[kKMG]?i?[Bb]\b|[nµm]?s\b)", "\u00a0", text)


def script_json(value: Any) -> str:
    """JSON that can stand inside <script>: no `<`, `>`, `&`, and no line separators that JavaScript minds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for bad in "<>&\u2028\u2029":
        text = text.replace(bad, f"\\u{ord(bad):04x}")
    return text


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@lru_cache(maxsize=1)
def _packed_library() -> str:
    """The plotting library as the page carries it: gzip in base64, the same bytes every time."""
    return base64.b64encode(gzip.compress(_LIBRARY.read_bytes(), mtime=0)).decode()
