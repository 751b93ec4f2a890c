// `mailstead backup`: everything the appliance keeps in one file, made beside it while it works, read back before it counts.

import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { makeBackup } from '../../maintenance/backup/make.ts'
import type { Manifest } from '../../maintenance/backup/manifest.ts'
import { holds, sizeText } from '../../maintenance/backup/size-text.ts'
import { damageCount, damageLines } from '../../maintenance/damage.ts'
import type { Command } from '../frame/command.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

export const backup: Command = {
  words: 'backup',
  summary: 'Back up the whole appliance into one file and verify it; the server may keep running.',
  operands: ['file'],
  async run({ operands, config, progress }) {
    const file = resolve(operands[0]!)
    const order = { folder: resolve(config.DATA_DIR), secret: config.APP_SECRET, file }
    const { sizeBytes, manifest, damage } = await makeBackup(order, progress, untilInterrupted)
    const made = {
      data: { file, size_bytes: sizeBytes, ...manifest, damaged: damage.names },
      lines: [
        ...summaryLines(file, sizeBytes, manifest, config),
        ...damageLines(damage).map((line) => `  Damaged: ${line}.`),
      ],
    }
    if (damage.contents === 0) return made
    const says = `The backup was made, but ${damageCount(damage)} in the appliance. Keep an older backup that holds them.`
    return { ...made, failure: says }
  },
}

/** The work folder contains all messages unencrypted: it must not stay when the command is interrupted. */
async function untilInterrupted<T>(workFolder: string, work: () => Promise<T>): Promise<T> {
  const giveUp = () => {
    rmSync(workFolder, { recursive: true, force: true })
    process.exit(1)
  }
  for (const signal of SIGNALS) process.once(signal, giveUp)
  try {
    return await work()
  } finally {
    for (const signal of SIGNALS) process.off(signal, giveUp)
  }
}

function summaryLines(file: string, size: number, manifest: Manifest, config: Config): string[] {
  const { counts, files, damaged_contents: damaged = 0 } = manifest
  const certificate = config.TLS_CERT_FILE === '' ? '' : ', the certificate of TLS_CERT_FILE'
  const secret = files.some(({ path }) => path === 'keys/app-secret') && config.APP_SECRET === ''
  return [
    `${file} (${sizeText(size)}) holds ${holds(counts)}; it was read back and verified${damaged === 0 ? '' : `: ${damaged} of its contents damaged`}.`,
    `  In it: ${files.map(({ path, size_bytes: bytes }) => `${path} (${sizeText(bytes)})`).join(', ')}.`,
    `  Not in it: the settings (config/mailstead.json, environment)${certificate}${secret ? '' : ', the secret of APP_SECRET'}.`,
    secret
      ? '  It holds the secret of the appliance beside all mail: keep it where only you can read it.'
      : '  Keep APP_SECRET elsewhere: sealed keys cannot be decrypted without it.',
  ]
}
