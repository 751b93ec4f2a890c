// Where the files of the program are: in the sources, and in the bundle that scripts/build.ts makes of them.

import { resolve } from 'node:path'

/** False in the bundle: its files are JavaScript and lie side by side in `dist/`. */
const IS_SOURCE = import.meta.filename.endsWith('.ts')

/** The project folder, with package.json and docs/. */
export const PROJECT_FOLDER: string = resolve(import.meta.dirname, IS_SOURCE ? '../..' : '..')

/** The folder with the code that runs, in {@link PROJECT_FOLDER}. */
export const CODE_FOLDER = IS_SOURCE ? 'src' : 'dist'

/**
 * The file that a thread or a child process runs.
 * @param source `new URL('./<name>.ts', import.meta.url)`; scripts/build.ts finds the entries of the bundle by these calls
 */
export function entryFile(source: URL): URL {
  return IS_SOURCE ? source : new URL(source.href.replace(/\.ts$/, '.js'))
}
