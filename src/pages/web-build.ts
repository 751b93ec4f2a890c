// The built web application, `web/dist`: read from its manifest, served as hashed files and one page for each entry.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_FOLDER } from '../base/entry.ts'

/** Where the build is. */
export const WEB_FOLDER = join(PROJECT_FOLDER, 'web', 'dist')

/** An application: names of files in the folder. */
export interface WebEntry {
  /** The module that starts it. */
  script: string
  styles: readonly string[]
  /** Modules the first page needs as well. */
  preload?: readonly string[]
  /** A script that runs before the first paint. */
  early?: string
  /** The icon of the page. */
  icon?: string
}

/** `manifest.json`, as scripts/build-web.ts writes it. */
export interface WebManifest {
  /** Changes with every build. */
  version: string
  entries: Readonly<Record<string, WebEntry>>
  /** Every file, in bytes; `gzip` and `br` are the sizes of `<file>.gz` and `<file>.br` where these exist. */
  sizes: Readonly<Record<string, { bytes: number; gzip?: number; br?: number }>>
}

const MANIFEST = 'manifest.json'

export class WebBuild {
  readonly folder: string
  #read: { at: number; manifest: WebManifest } | null = null

  constructor(folder = WEB_FOLDER) {
    this.folder = folder
  }

  /** The manifest of the present build, read again when it has changed; null without a build. */
  manifest(): WebManifest | null {
    const file = join(this.folder, MANIFEST)
    const at = statSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (at === undefined) return null
    if (this.#read?.at !== at) {
      this.#read = { at, manifest: JSON.parse(readFileSync(file, 'utf8')) as WebManifest }
    }
    return this.#read.manifest
  }
}
