// What we use of culori, which brings no types: colours of CSS as red, green and blue from 0 to 1.

declare module 'culori/css' {
  /** @returns undefined for what is no colour */
  export function rgb(text: string): { r: number; g: number; b: number; alpha?: number } | undefined
}
