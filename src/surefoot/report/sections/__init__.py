"""The sections of the audit, one folder for each question. A new section is a new folder and an entry here."""

from surefoot.report.sections.accuracy import AccuracySection
from surefoot.report.sections.section import Section
from surefoot.report.sections.shift import ShiftSection
from surefoot.report.sections.stability import StabilitySection
from surefoot.report.sections.uncertainty import UncertaintySection

SECTIONS: tuple[Section, ...] = (AccuracySection(), UncertaintySection(), StabilitySection(), ShiftSection())
NAMES = tuple(section.name for section in SECTIONS)
QUESTIONS = tuple(section.question for section in SECTIONS)
