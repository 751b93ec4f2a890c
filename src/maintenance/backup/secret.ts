// The secret of an appliance, and what a backup says of it without disclosing it.

import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The setting APP_SECRET, or else the file in the folder; undefined when there is neither. */
export async function secretOf(given: string, folder: string): Promise<string | undefined> {
  if (given !== '') return given
  return (await readFile(join(folder, 'keys/app-secret'), 'utf8').catch(() => undefined))?.trim()
}

/** The same for the same secret, in hexadecimal. */
export function secretCheck(secret: string): string {
  return createHmac('sha256', secret).update('mailstead backup').digest('hex')
}
