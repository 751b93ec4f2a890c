/** The address of the icons, set by the build. */
declare const ICON_FILE: string
