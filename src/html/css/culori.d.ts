// Types of the parts of culori in use: CSS colours as red, green and blue from 0 to 1.

declare module 'culori/css' {
  /** @returns undefined for an invalid colour */
  export function rgb(text: string): { r: number; g: number; b: number; alpha?: number } | undefined
}
