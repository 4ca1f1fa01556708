"""Figures of the face experiment: the table as dots, chosen pixels and images, correlations, reconstructions."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.data import MissingDataError
from experiments.face_data import Faces, checksum, correlated, gallery, rebuilt
from experiments.face_methods import OWN
from experiments.face_page import PRINTED_RECONSTRUCTION, name_of, number, ranks_of
from experiments.figures import COLOURS, figure
from experiments.grid import Row
from experiments.portraits import correlations, dots, key_pixels, mosaic


def draw_table(sheet: Any, rows: list[Row]) -> None:
    """Draw approximation and accuracy, one line a row."""
    colours = COLOURS | {"random": "#7f8c8d"}
    for k, (name, label) in enumerate(
        (("approximation", "approximation, %"), ("accuracy", "accuracy of image clusters, %"))
    ):
        axes = sheet.add_subplot(1, 2, k + 1)
        lines = [
            (
                f"{name_of(row)} {ranks_of(row)}",
                row.get(name, row.get(f"{name}_ours")),
                row["printed"].get(name),
                colours[row["method"]],
            )
            for row in rows
        ]
        dots(axes, lines, label)
        if k:
            axes.set_yticklabels([])
            sheet.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2)


def pictures(rows: list[Row], folder: Path) -> list[str]:
    """Draw the faces that were chosen, if they are at hand, and return what goes below the figures."""
    wide = max(row["r1"] for row in rows)
    chosen = {
        name_of(row): row for row in rows if row["r1"] == wide and "core_fidelity" in row and row["method"] != "random"
    }
    shown = [row for row in chosen.values() if row["method"] in OWN and row["variant"] != "largest diagonals"]
    try:
        faces = gallery(rows[0]["set"])
    except MissingDataError as missing:
        return [f"The figures were not drawn again: {missing}.\n"]
    if checksum(faces.pixels) != rows[0]["data"]:
        return ["The figures were not drawn again: the faces at hand are not those of the rows.\n"]
    draw_pixels(folder, faces, shown)
    draw_images(folder, faces, shown)
    draw_correlations(folder, faces, [chosen["greedy"], *shown])
    lead = shown[0]
    draw_others(folder, faces, lead)
    note = (
        f"Appendix: subjects of which {name_of(lead)} chose no image, and mixes of the chosen images beside them "
        f"(relative error {number(lead, 'reconstruction_error', 4)}, printed {PRINTED_RECONSTRUCTION}).\n"
    )
    return [
        image(folder, "figure_4", f"The {wide} pixels chosen by three methods, over the mean face"),
        f"Figure 4: the {wide} chosen pixels over the mean face.\n",
        image(folder, "figure_5", "The chosen images by subject"),
        f"Figure 5: the {lead['r2']} chosen images, each with the number of its subject.\n",
        image(folder, "figure_6", "Correlations between images: truth, all pixels, chosen pixels"),
        "Figure 6: pairs of one subject; correlations between all images over all pixels, and over the chosen ones.\n",
        image(folder, "appendix_faces", "Images of subjects that were not chosen, and their reconstructions"),
        note,
    ]


def image(folder: Path, name: str, text: str) -> str:
    """Return the Markdown of a figure."""
    return f"![{text}]({folder.name}/{name}.png)\n"


def indices(row: Row, side: str) -> NDArray[np.int_]:
    """Return the chosen pixels or images."""
    return np.array(str(row[f"chosen_{side}"]).split(), dtype=int)


def draw_pixels(folder: Path, faces: Faces, shown: list[Row]) -> None:
    """Draw the chosen pixels over the mean face."""
    with figure(folder / "figure_4.png", (11, 5)) as sheet:
        for k, row in enumerate(shown):
            axes = sheet.add_subplot(1, len(shown), k + 1)
            title = f"{row['method']}: {row['r1']} pixels"
            key_pixels(
                axes, faces.pixels.mean(axis=1), faces.shape, indices(row, "pixels"), COLOURS[row["method"]], title
            )


def draw_images(folder: Path, faces: Faces, shown: list[Row]) -> None:
    """Draw the chosen images by subject."""
    with figure(folder / "figure_5.png", (15, 6.5)) as sheet:
        for k, row in enumerate(shown):
            images = np.sort(indices(row, "images"))
            names = [str(subject + 1) for subject in faces.subjects[images]]
            axes = sheet.add_subplot(1, len(shown), k + 1)
            title = f"{row['method']}: {len(set(names))} subjects"
            mosaic(axes, faces.pixels[:, images], faces.shape, 6, title, names)


def draw_correlations(folder: Path, faces: Faces, shown: list[Row]) -> None:
    """Draw the truth, the correlations over all pixels, and those over chosen pixels."""
    X, subjects, _ = faces
    panels = [
        ("same subject", (subjects[:, None] == subjects).astype(float)),
        (f"all {len(X)} pixels", correlated(X)),
        *(
            (
                f"{row['method']}, {row['r1']} pixels: {row['correlation_error']:.4f}",
                correlated(X[indices(row, "pixels")]),
            )
            for row in shown
        ),
    ]
    with figure(folder / "figure_6.png", (11.5, 7.6)) as sheet:
        grid = sheet.subplots(2, 3)
        for axes, (title, values) in zip(grid.flat, panels, strict=True):
            drawn = correlations(axes, values, subjects, title)
        sheet.colorbar(drawn, ax=grid, label="correlation", shrink=0.6, aspect=30, pad=0.01)


def draw_others(folder: Path, faces: Faces, row: Row) -> None:
    """Draw the images of subjects that were not chosen beside their reconstructions."""
    X, subjects, shape = faces
    images = indices(row, "images")
    others = np.flatnonzero(~np.isin(subjects, subjects[images]))
    each = int((subjects == 0).sum())
    names = [f"{subject + 1}" if k % each == 0 else "" for k, subject in enumerate(subjects[others])]
    with figure(folder / "appendix_faces.png", (14, 8)) as sheet:
        for k, (title, shown) in enumerate((("not chosen", X), ("mixes of the chosen images", rebuilt(X, images)))):
            axes = sheet.add_subplot(1, 2, k + 1)
            mosaic(axes, shown[:, others], shape, each, f"{len(others)} images, {title}", names)
