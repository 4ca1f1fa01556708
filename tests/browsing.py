"""Pages in chromium: launched once, and every page demanded to be quiet."""

import os
import shutil
from contextlib import contextmanager

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {"wide": {"width": 1280, "height": 900}, "narrow": {"width": 400, "height": 800}}


def missing(message):
    """Skip a test that needs what is not here; under CI=true fail."""
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(message)


@contextmanager
def launched():
    """Chromium, or a skip where there is none; under CI=true that is a failure."""
    path = os.environ.get("COSEP_CHROMIUM") or shutil.which("chromium")
    if path is None:
        missing("no chromium here: `make browser` installs it, COSEP_CHROMIUM names another")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only the tests in a browser need it

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@contextmanager
def opened(browser, path, *, within=None, query="", **options):
    """Open a page, and at the end demand that it was quiet and asked for nothing but itself, or files of one folder."""
    complaints, requests = [], []
    with browser.new_context(viewport=SIZES["wide"], **options) as context:
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        context.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri() + query)
        yield page
    assert complaints == []
    asked = [url for url in requests if not url.startswith("data:")]
    if within is None:
        assert asked == [path.as_uri()]
    else:
        assert [url for url in asked if not url.startswith(within.as_uri())] == []
