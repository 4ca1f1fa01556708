"""Settings of the documentation site; `make docs` builds it."""

import sys
import tomllib
import warnings
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
sys.path[:0] = [str(HERE / "_extensions")]

import cosep  # noqa: E402

project = "cosep"
author = PROJECT["authors"][0]["name"]
copyright = author  # noqa: A001 - the name that Sphinx reads
version = release = cosep.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "command_options",
    "docstrings",
    "svg_math",
    "repository_pages",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.zip", "gallery/*.json"]
templates_path = ["_templates"]
nitpicky = True
highlight_language = "none"
default_role = "autolink"

# The source of pages that are kept elsewhere in the repository, and the address of what has no page.
repository_url = PROJECT["urls"]["Source"]
repository_pages = {
    "benchmarks": "benchmarks/README.md",
    "changelog": "CHANGELOG.md",
    "code-of-conduct": "CODE_OF_CONDUCT.md",
    "contributing": "CONTRIBUTING.md",
    "fuzz": "fuzz/README.md",
    "paper-tables": "experiments/RESULTS.md",
    "releasing": "RELEASING.md",
    "security": "SECURITY.md",
}

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["myst.header"]  # the pages of measured rows begin their parts at other levels

autosummary_generate = True
# File systems that ignore case would take the class and the function for one page.
autosummary_filename_map = {
    "cosep.CUR": "cosep.CUR-class",
    "cosep.Stability": "cosep.Stability-class",
}
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False

copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = ">>> "

html_theme = "furo"
html_title = f"cosep {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "svg_math"
html_copy_source = False
html_show_sourcelink = False
# An excerpt of each result would be fetched from its page, which browsers refuse for local files.
html_show_search_summary = False
html_theme_options = {
    "source_repository": repository_url,
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": [],
}


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/",
    "ignore_pattern": "__init__",
    "abort_on_example_error": True,
    "backreferences_dir": "api/examples",
    "doc_module": ("cosep",),
    "download_all_examples": False,
    "matplotlib_animations": False,
    "min_reported_time": 10_000,
    "remove_config_comments": True,
    "reset_modules": ("gallery_figures.reset_figures",),
    "show_memory": False,
    "show_signature": False,
    "within_subsection_order": "gallery_figures.TeachingOrder",
    "write_computation_times": False,
}

# Other packages, and what they import in a version that calls it old.
warnings.filterwarnings("ignore", category=DeprecationWarning)
