export const WEB_DIST: string
export const WEB_MANIFEST: string
export function webInputs(root: string): string[]
export function isWebFresh(root: string): boolean
