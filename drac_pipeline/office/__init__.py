"""Text documents (DOCX) and slides (PPTX) read from their own XML.

package     parts of the file          docx, pptx   its content as an HTML tree (`page`)
styles      what a style gives         numbering, bullets   the signs of items
graphics    diagrams and charts        places       where text stands in the print
route       all together
"""

from drac_pipeline.office.route import OWN_FORMATS, convert_office, with_missing

__all__ = ["OWN_FORMATS", "convert_office", "with_missing"]
