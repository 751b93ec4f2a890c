// Settings that the operator chose in the console or by a command: a file of the data folder, below the environment and the settings file.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ProductError } from '../base/errors.ts'
import type { Config } from './config.ts'
import { replaceFile } from './data-folder.ts'

/** Settings that can be chosen and hold at once: those of backups. */
export const CHOOSABLE_AT_ONCE = ['BACKUP_TIMES', 'BACKUP_KEEP'] as const

/** Settings that a first set-up chooses besides the names: ports as the internet knows them, certificates, and sending over IPv6. */
export const CHOOSABLE_AT_SETUP = [
  'SEND_ORIGIN',
  'SMTP_PORT',
  'HTTP_PORT',
  'HTTPS_PORT',
  'IMAPS_PORT',
  'SUBMISSIONS_PORT',
  'SUBMISSION_PORT',
  'ACME',
  'ACME_EMAIL',
  'DIRECT_IPV6',
] as const

/** Settings that can be chosen: besides those that hold at once, they hold from the next start on. */
export const CHOOSABLE = ['MAIL_HOSTS', 'APP_ORIGIN', ...CHOOSABLE_AT_SETUP, ...CHOOSABLE_AT_ONCE] as const

export type ChosenSettings = Partial<Pick<Config, (typeof CHOOSABLE)[number]>>

const fileIn = (dataDir: string) => join(dataDir, 'settings.json')

/** @returns nothing without a file @throws ProductError for one that cannot be read */
export function readChosen(dataDir: string): ChosenSettings {
  const file = fileIn(dataDir)
  if (!existsSync(file)) return {}
  try {
    const content = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    return Object.fromEntries(CHOOSABLE.filter((name) => name in content).map((name) => [name, content[name]]))
  } catch (error) {
    const sentence = `${file} is not valid JSON. Correct it, or remove it: the settings in it are then the defaults.`
    throw new ProductError('service_unavailable', sentence, { cause: error })
  }
}

/** Adds to the settings that were chosen before; they take effect at the next start, or at once. */
export async function choose(dataDir: string, chosen: ChosenSettings): Promise<void> {
  await replaceFile(fileIn(dataDir), `${JSON.stringify({ ...readChosen(dataDir), ...chosen }, null, 2)}\n`)
}
