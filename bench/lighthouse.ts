// Lighthouse on pages of the console. It brings 180 MB, more than everything else together, so it is no dependency: it is installed
// beside node_modules when this benchmark runs first.

import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'

const VERSION = '13.5.0'
const FOLDER = join(import.meta.dirname, '../node_modules/.cache/lighthouse')
const PROGRAM = join(FOLDER, 'node_modules/lighthouse/cli/index.js')
const TIMEOUT_MS = 180_000
export const CATEGORIES = ['performance', 'accessibility', 'best-practices'] as const

export interface LighthouseScores {
  /** 0…100, by category. */
  scores: Record<(typeof CATEGORIES)[number], number>
  /** Titles of what cost points. */
  lost: string[]
}

interface Report {
  categories: Record<string, { score: number; auditRefs: { id: string; weight: number }[] }>
  audits: Record<string, { title: string; score: number | null }>
}

/** Installs Lighthouse when it is not there. @returns why it cannot be used, or null */
export function prepareLighthouse(): string | null {
  if (existsSync(PROGRAM)) return null
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), '{"private":true}\n')
  try {
    const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', `lighthouse@${VERSION}`]
    execFileSync('npm', args, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'pipe'] })
    return null
  } catch (error) {
    return `Lighthouse ${VERSION} cannot be installed: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`
  }
}

/** @param cookie of the person who is signed in; null for a page without a session @param folder for the report */
export async function runLighthouse(url: string, cookie: string | null, folder: string): Promise<LighthouseScores> {
  const report = join(folder, 'lighthouse.json')
  const headers = join(folder, 'headers.json')
  writeFileSync(headers, JSON.stringify(cookie === null ? {} : { Cookie: cookie }))
  const options = [
    '--preset=desktop',
    '--quiet',
    '--output=json',
    `--output-path=${report}`,
    `--only-categories=${CATEGORIES.join(',')}`,
    `--extra-headers=${headers}`,
    '--chrome-flags=--headless=new --no-sandbox --disable-gpu',
  ]
  const env = { ...process.env, CHROME_PATH: '/usr/bin/chromium' }
  await promisify(execFile)(process.execPath, [PROGRAM, url, ...options], { env, timeout: TIMEOUT_MS })
  const { categories, audits } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const lost = CATEGORIES.flatMap((name) =>
    categories[name]!.auditRefs.flatMap(({ id, weight }) => {
      const { title, score } = audits[id]!
      return weight > 0 && score !== null && score < 0.9 ? [`${title} (${Math.round(score * 100)})`] : []
    }),
  )
  const scores = Object.fromEntries(CATEGORIES.map((name) => [name, Math.round(categories[name]!.score * 100)]))
  return { scores: scores as LighthouseScores['scores'], lost }
}
