// Format, lint and types: `npm run check` reports, `npm run format` fixes what can be fixed automatically.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { writeWebTypes } from './web-types.ts'

const MODULES = join(import.meta.dirname, '../node_modules')

interface Tool {
  name: string
  file: string
  args: string[]
}

/** Types of one project. What has not changed since the last check is not checked again: a seventh of the processor time. */
function types(name: string, project: string): Tool {
  const state = join(MODULES, `.cache/types-${project === '.' ? 'sources' : project}.tsbuildinfo`)
  const args = ['--pretty', 'false', '-p', project, '--incremental', '--tsBuildInfoFile', state]
  return { name, file: 'typescript/bin/tsc', args }
}

const TYPES = types('types', '.')
const WEB_TYPES = types('types of the pages', 'web')

function biome(write: boolean): Tool {
  const args = write ? ['check', '--write'] : ['ci', '--max-diagnostics=20', '--diagnostic-level=warn']
  return { name: 'format and lint', file: '@biomejs/biome/bin/biome', args: [...args, '--colors=off', '.'] }
}

/** Runs one tool, shows what it says when it finds something. @returns true when it found nothing */
async function passes(tool: Tool): Promise<boolean> {
  const started = performance.now()
  const child = spawn(process.execPath, [join(MODULES, tool.file), ...tool.args], {
    cwd: join(MODULES, '..'),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${code === 0 ? '✔' : '✖'} ${tool.name} (${seconds} s)`)
  if (code !== 0) console.log(output.trimEnd())
  return code === 0
}

/** Checks the whole project. @returns true when nothing is wrong */
export async function check(write = false): Promise<boolean> {
  const results = [await passes(biome(write))]
  // Tests read files of the pages too.
  await writeWebTypes()
  for (const tool of [TYPES, WEB_TYPES]) results.push(await passes(tool))
  return results.every(Boolean)
}

if (import.meta.main) process.exitCode = (await check(process.argv.includes('--write'))) ? 0 : 1
