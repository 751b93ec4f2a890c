// File name extensions of attachments by what opening them does.

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/**
 * Programs, scripts, shortcuts, and images of disks that show them without a warning. Source: the lists of blocked attachments that Gmail
 * and Outlook publish in their help pages.
 */
export const PROGRAMS = words(`
  ade adp apk appx appxbundle bat cab chm cmd com cpl dll dmg exe hta ins isp jar js jse lib lnk mde msc msi msix msp mst nsh pif ps1 ps2
  psc1 psm1 reg scf scr sct settingcontent-ms shb sys url vb vbe vbs vhd vhdx vxd wsc wsf wsh xll iso img udf one onepkg library-ms
  search-ms appref-ms gadget application msh msh1 msh2 pyw
`)
/** Pages that a browser runs from the disk, outside of what protects against phishing. */
export const PAGES = words('htm html shtml xhtml svg svgz mht mhtml xht')
/** Office documents with macros. */
export const MACROS = words('docm dotm xlsm xltm xlam xlsb pptm potm ppsm ppam sldm')
/** Extensions that a program pretends to have before its own one. */
export const DOCUMENTS = words('pdf doc docx xls xlsx ppt pptx txt rtf odt ods jpg jpeg png gif csv zip htm html')
