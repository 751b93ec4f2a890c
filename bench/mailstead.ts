// The appliance that is measured: the bundle, as `npm start` and the image run it, or the sources.

import { join } from 'node:path'
import process from 'node:process'
import { buildBundle } from '../scripts/build.ts'
import { BUNDLED_CLI, isBundleFresh } from '../scripts/bundle.js'
import type { ApplianceReady } from './appliance.ts'
import { type Child, freePort, startNode, untilOpen } from './processes.ts'
import type { SeededBoxes } from './seed-boxes.ts'

const ROOT = join(import.meta.dirname, '..')

/** What runs. */
export type Form = 'bundle' | 'sources'

export interface Mailstead {
  child: Child
  smtp: number
  app: number
  /** Keys of the mailboxes, in the order of their names. */
  keys: string[]
}

/** Makes the bundle, unless it is made of the sources as they are. */
export async function prepareForm(form: Form): Promise<void> {
  if (form === 'bundle' && !isBundleFresh(ROOT)) await buildBundle()
}

/**
 * Starts the appliance after creating mailboxes in its data folder.
 * @param env see `applianceEnv`
 */
export async function startMailstead(
  form: Form,
  env: Record<string, string>,
  mailboxes: string[] = [],
): Promise<Mailstead> {
  if (form === 'sources') {
    const child = startNode('bench/appliance.ts', mailboxes, env)
    return { child, ...(await child.message<ApplianceReady>()) }
  }
  const keys = mailboxes.length === 0 ? [] : await seed(mailboxes, env)
  const [smtp, app] = [await freePort(), await freePort()]
  const ports = { SMTP_PORT: String(smtp), HTTP_PORT: String(app) }
  const child = startNode(BUNDLED_CLI, ['serve', '--json'], { ...startEnv(), ...env, ...ports })
  for (const port of [smtp, app]) await untilOpen(child, port)
  return { child, smtp, app, keys }
}

async function seed(mailboxes: string[], env: Record<string, string>): Promise<string[]> {
  await using child = startNode('bench/seed-boxes.ts', mailboxes, env)
  const { keys } = await child.message<SeededBoxes>()
  await child.ended
  return keys
}

/** As scripts/run.js and the image start it. */
export function startEnv(): Record<string, string> {
  const cache = process.env.NODE_COMPILE_CACHE
  return {
    MALLOC_ARENA_MAX: '2',
    MALLOC_TRIM_THRESHOLD_: '131072',
    NODE_OPTIONS: '--v8-pool-size=1 --max-semi-space-size=8 --expose-gc',
    ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }),
  }
}
