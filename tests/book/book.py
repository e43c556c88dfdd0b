"""The book in a browser: book.py FOLDER CHROMIUM. Prints what is not so; the last line counts."""

import functools
import http.server
import pathlib
import sys
import threading
import urllib.parse

from playwright.sync_api import sync_playwright

BOOK = pathlib.Path(sys.argv[1]).resolve()
LOOK = """() => {
    document.querySelectorAll("details").forEach((d) => (d.open = true));
    const all = (what, of) => [...document.querySelectorAll(what)].map(of);
    return {
        links: [...all("a, link", (e) => e.href), ...all("[src]", (e) => e.src)],
        ids: all("[id]", (e) => e.id),
        pictures: document.images.length,
        broken: [...document.images].filter((e) => !e.naturalWidth).map((e) => `no picture ${e.src}`),
        wide: [...document.querySelectorAll("article *")].filter(
            (e) => e.getBoundingClientRect().right > innerWidth && !e.closest("pre, .table-wrapper"), // these scroll
        ).map((e) => `wider than a phone: ${e.textContent}`),
    };
}"""
faults = []


def page_in(browser, width, height, here):
    """A page that notes what it complains of, and what it asks of another place than here."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.on("console", lambda message: faults.append(f"{page.url}: {message.text} {message.location['url']}"))
    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on("request", lambda asked: asked.url.startswith(here) or faults.append(f"{page.url} asks {asked.url}"))
    return page


def look(browser, files):
    """Each page on a phone: links, pictures, width. Returns how many links there are."""
    page = page_in(browser, 390, 844, "file:")
    seen = {}
    for file in files:
        page.goto(file.as_uri())
        seen[file] = page.evaluate(LOOK)
    for file, found in seen.items():
        wrong = found["broken"] + found["wide"]
        for link in filter(None, found["links"]):
            url = urllib.parse.urlsplit(link)
            target = pathlib.Path(urllib.parse.unquote(url.path))
            anchor = urllib.parse.unquote(url.fragment)
            if url.scheme == "file" and not (
                target.exists() and (not anchor or target not in seen or anchor in seen[target]["ids"])
            ):
                wrong.append(f"no {link}")
        faults.extend(f"{file.relative_to(BOOK)}: {fault}" for fault in wrong)
    if sum(found["pictures"] for found in seen.values()) < 5:
        faults.append("where are the pictures?")
    links = [(file, link) for file, found in seen.items() for link in found["links"]]
    if sum(".html#" in link and not link.startswith(file.as_uri()) for file, link in links) < 100:
        faults.append("where are the links to headings of other pages?")
    return len(links)


def search(browser, address, word, is_right):
    """A word typed on a page has results, all in the right language; and the first of them has the word."""
    page = page_in(browser, 1200, 800, address.partition("README")[0])
    page.goto(address)
    page.locator("input[name=q]").press_sequentially(word)
    page.keyboard.press("Enter")
    page.wait_for_selector(".search-summary:not(:empty)")
    results = page.locator("#search-results li a")
    found = results.evaluate_all("all => all.map((a) => a.pathname)")
    if len(found) < 3 or not all(map(is_right, found)):
        faults.append(f"{word} on {address} finds {found}")
    if found and address.startswith("http"):
        page.wait_for_selector("#search-results .context")  # lines with the word
    if found:
        results.first.click()
        page.locator("article", has_text=word).wait_for()


Handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=BOOK)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
files = sorted(BOOK.rglob("*.html"))
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=sys.argv[2], args=["--no-sandbox"])
    count = look(browser, files)
    for place in BOOK.as_uri(), f"http://127.0.0.1:{server.server_port}":
        search(browser, f"{place}/README.html", "race", lambda path: ".zh." not in path)
        search(browser, f"{place}/README.zh.html", "竞争", lambda path: ".zh." in path or "GLOSSARY" in path)
print(*faults, f"{len(files)} pages, {count} links, {len(faults)} faults", sep="\n")
