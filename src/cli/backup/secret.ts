// The secret of an appliance, and what a backup says of it without telling it.

import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'

/** The setting, or else the file in the folder; undefined when there is neither. */
export async function secretOf(config: Config, folder: string): Promise<string | undefined> {
  if (config.APP_SECRET !== '') return config.APP_SECRET
  return (await readFile(join(folder, 'keys/app-secret'), 'utf8').catch(() => undefined))?.trim()
}

/** The same for the same secret, in hexadecimal. */
export function secretCheck(secret: string): string {
  return createHmac('sha256', secret).update('mailstead backup').digest('hex')
}
