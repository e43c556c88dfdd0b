"""The pages as a book: Sphinx with MyST reads them where they are, as GitHub does. make book calls it."""

import os
import pathlib
import re
import shutil

import sphinx
from docutils import nodes
from sphinx import addnodes
from sphinx.search.en import SearchEnglish
from sphinx.util import logging

root_doc = "README"
include_patterns = ["*.md", "0*/**.md", "common/**.md", "tests/README.md"]
exclude_patterns = ["**/.*"]
extensions = ["myst_parser"]
myst_gfm_only = True
myst_heading_anchors = 6
myst_heading_anchors_html_ids = True  # GitHub's anchors
smartquotes = False
suppress_warnings = ["misc.highlighting_failure"]  # … in a block stands for lines left out
html_theme = "furo"  # asks no other host for anything
html_theme_options = {"top_of_page_buttons": []}
html_favicon = "favicon.svg"
html_copy_source = False
html_show_copyright = html_show_sphinx = False
html_use_index = False
html_search_language = "pairs"
html_additional_pages = {"search.zh": "search.html"}
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.md")
CHINESE = {"Search": "搜索", "On this page": "本页内容", "Next": "下一页", "Previous": "上一页", "Home": "首页"}
# Each language finds its own pages, and Chinese those that are English only. From a file, no page can show what is in others.
SEARCH = """
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
document.addEventListener("DOMContentLoaded", () => {
  const search = Search._performSearch, names = Search._index.docnames, chinese = document.documentElement.lang === "zh";
  Search._performSearch = (...query) =>
    search(...query).filter(([name]) => chinese ? !names.includes(name + ".zh") : !name.endsWith(".zh"));
});
"""


class Pairs(SearchEnglish):
    """Words, and of Chinese, which has no spaces, each two characters that follow one another."""

    lang = "pairs"
    js_splitter_code = r"""
function splitQuery(query) {
  const words = query.match(/[\u4e00-\u9fff]+|[^\W\u4e00-\u9fff]+/gu) || [];
  return words.flatMap((w) => /[\u4e00-\u9fff]{3}/.test(w) ? [...w].slice(1).map((c, i) => w[i] + c) : [w]);
}
"""

    def split(self, text):
        for word in re.findall(r"[\u4e00-\u9fff]+|[^\W\u4e00-\u9fff]+", text):
            yield from map("".join, zip(word, word[1:])) if "\u4e00" <= word[0] <= "\u9fff" else [word]


def readme_above(doc, docs):
    """The README in whose contents a page is: that of its folder or, if there is none, of one above."""
    path = pathlib.PurePosixPath(doc)
    folders = path.parents if path.name != "README" else path.parent.parents
    return next((str(folder / "README") for folder in folders if str(folder / "README") in docs), None)


def add_contents(app, doctree):
    """A README's contents, in the order of its links to them; the Chinese pages come behind the English ones."""
    here, docs = app.env.docname, app.env.found_docs
    text = app.env.doc2path(here).read_text()
    places = {doc: text.find(f"]({os.path.relpath(doc, os.path.dirname(here) or '.')}.") for doc in docs}
    pages = [doc for doc in docs if not doc.endswith(".zh") and readme_above(doc, docs) == here.removesuffix(".zh")]
    pages.sort(key=lambda doc: (places[doc] < 0, places[doc], doc))
    if here.endswith(".zh"):
        pages = [doc + ".zh" if doc + ".zh" in docs else doc for doc in pages]
    if here == "README":
        pages.append("README.zh")
    contents = addnodes.toctree("", parent=here, entries=[(None, doc) for doc in pages], includefiles=pages)
    contents.attributes |= {"maxdepth": -1, "hidden": True, "titlesonly": True, "caption": None, "glob": False}
    doctree[0].extend([contents] if pages else [])


def follow_links(app, doctree):
    """A link to a page leads to the book's; a file is copied; a folder too, with a page that names its files."""
    page = app.env.doc2path(app.env.docname)
    for link in doctree.findall(nodes.reference):
        path, mark, anchor = link.get("refuri", "").partition("#")
        if not path or ":" in path:
            continue
        target = page.parent / path
        place = app.outdir / os.path.relpath(target, app.srcdir)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md") and target.exists():
            link["refuri"] = path.removesuffix("md") + "html" + mark + anchor
        elif target.is_file():
            shutil.copy(target, place)
        elif target.is_dir():
            shutil.copytree(target, place, ignore=NOT_COPIED, dirs_exist_ok=True)
            names = sorted(set(os.listdir(place)) - {"index.html"})
            place.joinpath("index.html").write_text("".join(f'<p><a href="{name}">{name}</a></p>' for name in names))
        else:
            logging.getLogger(__name__).warning("a link to what is not there: %s", path, location=app.env.docname)


def set_language(app, pagename, template, context, doctree):
    """A Chinese page has the Chinese contents beside it, and the theme's words in Chinese."""
    is_chinese = pagename.endswith(".zh")
    home = context["master_doc"] = "README.zh" if is_chinese else "README"
    context["docstitle"] = app.env.titles[home].astext()
    app.env.master_doctree = app.env.get_doctree(home)
    if is_chinese:
        pathto = context["pathto"]
        context["language"] = "zh"
        context["_"] = context["gettext"] = lambda words: CHINESE.get(words, words)
        context["pathto"] = lambda name, *a, **b: pathto("search.zh" if name == "search" else name, *a, **b)
    if pagename.startswith("search"):
        app.add_js_file(None, body=SEARCH)
        if is_chinese:
            app.add_js_file(None, body=(sphinx.package_dir / "locale/zh_CN/LC_MESSAGES/sphinx.js").read_text())


def add_indexes(app, exception):
    """A README is what its folder shows."""
    for page in app.outdir.rglob("README*.html"):
        shutil.copy(page, page.with_name(page.name.replace("README", "index")))


def setup(app):
    app.add_search_language(Pairs)
    app.connect("doctree-read", add_contents, priority=400)
    app.connect("doctree-read", follow_links)
    app.connect("html-page-context", set_language, priority=400)
    app.connect("build-finished", add_indexes)
