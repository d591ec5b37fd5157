"""Runs the code cells of a notebook, without Jupyter, and gives their outputs in the notebook's own form.

    python notebook.py first.ipynb --write          stores the outputs
    python notebook.py first.ipynb --html page.html a page to look at
"""
import ast
import base64
import contextlib
import html
import io
import json
import pathlib
import re
import sys
import warnings


def output_of(value):
    """What a notebook shows of the last expression of a cell."""
    data = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_()
    return {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}


def pictures():
    """Figures that a cell left open, as a notebook shows them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else []:
        file = io.BytesIO()
        pyplot.figure(number).savefig(file, format="png", dpi=72)
        pyplot.close(number)
        yield {"output_type": "display_data", "metadata": {}, "data": {"image/png": base64.b64encode(file.getvalue()).decode()}}


def run_cell(source, names):
    body = ast.parse(source).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
    printed, outputs, value = io.StringIO(), [], None
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        if last is not None:
            value = eval(compile(last, "cell", "eval"), names)
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if value is not None:
        outputs.append(output_of(value))
    return outputs + list(pictures())


def run(notebook):
    """The outputs of each code cell."""
    names = {"__name__": "__main__"}
    return [run_cell("".join(c["source"]), names) for c in notebook["cells"] if c["cell_type"] == "code"]


def shape(outputs):
    """Outputs without what differs from run to run: numbers, and the notes and marks of quality that depend on noise."""
    def plain(text):
        return re.sub(r"\s+", " ", re.sub(r"[-−+]?\d[\d.,:eTZ–-]*", "#", text)).strip()

    def of(kind, text):
        text = "".join(text)
        if kind == "text/html":
            return "a picture" if text.startswith("<svg") else ([h for h in re.findall(r"<th>(.*?)</th>", text) if h != "quality"], text.count("<tr>"))
        return "" if kind == "image/png" else plain(text) if kind == "text" else plain(text.strip().splitlines()[0])
    return [(o["output_type"], {kind: of(kind, text) for kind, text in o.get("data", {"text": o.get("text", "")}).items()}) for o in outputs]


def page(notebook):
    """A plain page of the notebook with its outputs."""
    parts = []
    for cell in notebook["cells"]:
        source = html.escape("".join(cell["source"]))
        parts.append(f"<pre class=code>{source}</pre>" if cell["cell_type"] == "code" else f"<p>{source.lstrip('# ')}</p>")
        for o in cell.get("outputs", []):
            data = o.get("data", {"text/plain": o.get("text", "")})
            if "image/png" in data:
                parts.append(f"<img src='data:image/png;base64,{data['image/png']}'>")
            else:
                parts.append("".join(data["text/html"]) if "text/html" in data else f"<pre>{html.escape(''.join(data['text/plain']))}</pre>")
    style = "body{font-family:sans-serif;max-width:60em;margin:2em}.code{background:#eee;padding:.6em}td,th{padding:.1em .6em;text-align:right}"
    return f"<!doctype html><meta charset=utf-8><style>{style}</style>" + "\n".join(parts)


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    made = json.loads(path.read_text())
    if "--write" in sys.argv:
        for cell, outputs in zip([c for c in made["cells"] if c["cell_type"] == "code"], run(made)):
            cell["outputs"] = outputs
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    if "--html" in sys.argv:
        pathlib.Path(sys.argv[sys.argv.index("--html") + 1]).write_text(page(made))
