"""A LibreOffice user profile that runs no macros, follows no links and reaches no network."""

from __future__ import annotations

from pathlib import Path

# (configuration node, property, value), names as in LibreOffice's own schemas (officecfg)
_SETTINGS = (
    ("org.openoffice.Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("org.openoffice.Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("org.openoffice.Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("org.openoffice.Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("org.openoffice.Office.Writer/Content/Update", "Link", "2"),  # never
    ("org.openoffice.Office.Calc/Content/Update", "Link", "2"),
    ("org.openoffice.Office.Common/Misc", "UseOpenCL", "false"),
    ("org.openoffice.Office.Common/Misc", "FirstRun", "false"),
    ("org.openoffice.Office.Common/Misc", "ShowTipOfTheDay", "false"),
    ("org.openoffice.Setup/Office", "ooSetupInstCompleted", "true"),
    ("org.openoffice.Office.Recovery/AutoSave", "Enabled", "false"),
    # a proxy that nobody answers at, for where no empty network namespace is to be had
    ("org.openoffice.Inet/Settings", "ooInetProxyType", "2"),
    ("org.openoffice.Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("org.openoffice.Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("org.openoffice.Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("org.openoffice.Inet/Settings", "ooInetHTTPSProxyPort", "9"),
    ("org.openoffice.Inet/Settings", "ooInetNoProxy", ""),
)

_ITEM = '<item oor:path="/{node}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop></item>'

# An open document keeps a waiting LibreOffice from ending after its first conversion.
_KEEPER = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">'
    "<office:body><office:text/></office:body></office:document>"
)


def write_profile(folder: Path) -> None:
    """Make `folder` a LibreOffice profile with our settings."""
    user = folder / "user"
    user.mkdir(parents=True)
    items = "".join(_ITEM.format(node=n, name=p, value=v) for n, p, v in _SETTINGS)
    (user / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry"'
        ' xmlns:xs="http://www.w3.org/2001/XMLSchema"'
        f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">{items}</oor:items>',
        encoding="utf-8",
    )


def write_keeper(folder: Path) -> Path:
    """An empty document in `folder` for a waiting LibreOffice to hold open."""
    path = folder / "keeper.fodt"
    path.write_text(_KEEPER, encoding="utf-8")
    return path
