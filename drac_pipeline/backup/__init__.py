"""Backups of a home: dated snapshots in a folder, each a whole home; what did not change is shared."""

from drac_pipeline.backup.repository import Snapshot, latest_snapshot, make_backup, snapshots
from drac_pipeline.backup.restore import Restored, restore_backup

__all__ = ["Restored", "Snapshot", "latest_snapshot", "make_backup", "restore_backup", "snapshots"]
