// Types of bundle.js.

export const BUILD_NOTE: string
export const BUNDLED_CLI: string
export function checksumOf(root: string, inputs: readonly string[]): string
export function isBundleFresh(root: string): boolean
export function bundledModule(root: string, source: string): string
