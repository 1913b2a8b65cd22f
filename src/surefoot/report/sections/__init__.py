"""The sections of the audit in the order of the page, one folder for each. A new section is a folder and an entry here.

Four of them answer a question; supporting sections follow the one that they support.
"""

from surefoot.report.sections.accuracy import AccuracySection
from surefoot.report.sections.guarantee import GuaranteeSection
from surefoot.report.sections.importance import ImportanceSection
from surefoot.report.sections.labels import LabelsSection
from surefoot.report.sections.over_time import OverTimeSection
from surefoot.report.sections.own_measure import OwnMeasureSection
from surefoot.report.sections.section import Section, SupportingSection
from surefoot.report.sections.shift import ShiftSection
from surefoot.report.sections.stability import StabilitySection
from surefoot.report.sections.subgroups import SubgroupSection
from surefoot.report.sections.uncertainty import UncertaintySection

SECTIONS: tuple[Section | SupportingSection, ...] = (
    AccuracySection(),
    SubgroupSection(),
    OwnMeasureSection(),
    LabelsSection(),
    UncertaintySection(),
    GuaranteeSection(),
    StabilitySection(),
    ImportanceSection(),
    ShiftSection(),
    OverTimeSection(),
)
NAMES = tuple(section.name for section in SECTIONS)
ANSWERED = tuple(section.name for section in SECTIONS if isinstance(section, Section))
QUESTIONS = tuple(section.question for section in SECTIONS if isinstance(section, Section))
