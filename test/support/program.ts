// The form of the program that tests run: the sources, or with MAILSTEAD_RUN=bundle what `npm run build` made of them in dist/.

import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { BUNDLED_CLI, bundledModule } from '../../scripts/bundle.js'
import { ROOT } from './source.ts'

type Main = typeof import('../../src/main.ts')
type Cli = typeof import('../../src/cli/cli.ts')

export const isBundle = process.env.MAILSTEAD_RUN === 'bundle'

/** What a test gives to Node to start the program as a process: a path in the project. */
export const PROGRAM = isBundle ? BUNDLED_CLI : 'src/cli/cli.ts'

/** Opens an appliance in this process. Its context has the same members in both forms. */
export const { openAppliance }: Main = isBundle
  ? await load(bundledModule(ROOT, 'src/main.ts'))
  : await import('../../src/main.ts')

/** Runs a command of the operator in this process. */
export const { runCli }: Cli = isBundle ? await load(BUNDLED_CLI) : await import('../../src/cli/cli.ts')

async function load<T>(path: string): Promise<T> {
  return (await import(pathToFileURL(join(ROOT, path)).href)) as T
}
