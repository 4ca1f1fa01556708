# The public names of cosep, one per line: the list that both type checkers and cosep/__init__.py read.
from cosep import datasets as datasets
from cosep import io as io
from cosep import metrics as metrics
from cosep import plots as plots
from cosep import report as report
from cosep import theory as theory
from cosep.assess.explanation import Explanation as Explanation
from cosep.assess.explanation import explain as explain
from cosep.assess.path import SelectionPath as SelectionPath
from cosep.assess.path import selection_path as selection_path
from cosep.assess.rank import RankChoice as RankChoice
from cosep.assess.rank import choose_rank as choose_rank
from cosep.assess.stability import Stability as Stability
from cosep.assess.stability import stability as stability
from cosep.datasets.synthetic import make_coseparable as make_coseparable
from cosep.estimators import CUR as CUR
from cosep.estimators import HALSNMF as HALSNMF
from cosep.estimators import BiorthogonalNMF as BiorthogonalNMF
from cosep.estimators import CoSeparableNMF as CoSeparableNMF
from cosep.estimators import GeneralizedSeparableNMF as GeneralizedSeparableNMF
from cosep.estimators import MinVolNMF as MinVolNMF
from cosep.estimators import SeparableNMF as SeparableNMF
from cosep.estimators import TriSymmetricNMF as TriSymmetricNMF
from cosep.estimators.annotation import annotate as annotate
from cosep.estimators.compilation import compile_kernels as compile_kernels
from cosep.findings.describe import describe as describe
from cosep.findings.record import Findings as Findings
from cosep.matrix.norm import Scaling as Scaling
from cosep.matrix.to_row_blocks import row_blocks as row_blocks
from cosep.metrics import clustering_accuracy as clustering_accuracy
from cosep.metrics import index_accuracy as index_accuracy
from cosep.metrics import relative_approximation as relative_approximation
from cosep.records.factorization import Factorization as Factorization
from cosep.records.selection import Selection as Selection
from cosep.records.selection import SelectionWarning as SelectionWarning
from cosep.select import *  # noqa: F403 - its ``__all__`` are the selectors
from cosep.select.both_sides import both_sides as both_sides
from cosep.select.pool import Pool as Pool
from cosep.select.preselected import preselected as preselected
from cosep.select.preselection import Preselection as Preselection
from cosep.select.preselection import preselect as preselect
from cosep.solve.mix import mix as mix
from cosep.solve.mix_generalized import mix_generalized as mix_generalized

__version__: str
