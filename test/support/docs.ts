// The Markdown of README.md and docs/: blocks, links, and inline code.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './source.ts'

export interface Block {
  language: string
  text: string
  /** 1 for the first line of the file. */
  line: number
}

/** Names of the files of docs/, without `.md`. */
export const DOC_NAMES: readonly string[] = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => name.slice(0, -3))

/** @param path from the project folder */
export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** Fenced blocks, in order. */
export function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1]!,
    text: match[2]!,
    line: text.slice(0, match.index).split('\n').length,
  }))
}

/** Inline `code` outside of fenced blocks. */
export function codeWordsOf(text: string): string[] {
  return [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!)
}

/** Targets of links. */
export function linksOf(text: string): string[] {
  return [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!)
}
