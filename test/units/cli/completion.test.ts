// Completion and help are generated from the list of commands: every command, option and value is in each of them.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { Commands } from '../../support/cli.ts'
import { missingProgram } from '../../support/programs.ts'

const cli = new Commands({})
const SHELLS = ['bash', 'zsh', 'fish'] as const
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailstead-completion-'))
  await writeFile(join(folder, 'a file.txt'), '')
})
after(() => rm(folder, { recursive: true }))

async function scriptOf(shell: string): Promise<string> {
  const { script } = await cli.json('completion', shell)
  return script
}

/** The words that bash offers after a command line. */
async function offered(...words: string[]): Promise<string[]> {
  const file = join(folder, 'mailstead.bash')
  await writeFile(file, await scriptOf('bash'))
  const program =
    'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _mailstead; printf "%s\\n" "${COMPREPLY[@]}"'
  const { stdout, stderr, status } = spawnSync('bash', ['-c', program, 'bash', file, 'mailstead', ...words], {
    cwd: folder,
    encoding: 'utf8',
  })
  assert.deepEqual([status, stderr], [0, ''])
  return stdout.split('\n').filter((word) => word !== '')
}

describe('bash completes', () => {
  test('commands, word by word', async () => {
    const firsts = [...new Set(COMMANDS.map(({ words }) => words.split(' ')[0]!))]
    assert.deepEqual(await offered(''), firsts)
    for (const first of firsts) {
      const seconds = COMMANDS.filter(({ words }) => words.startsWith(`${first} `)).map(
        ({ words }) => words.split(' ')[1]!,
      )
      if (seconds.length > 0) assert.deepEqual(await offered(first, ''), [...new Set(seconds)], first)
    }
    assert.deepEqual((await offered('mailbox', 'app-password', '')).sort(), ['create', 'list', 'revoke'])
    assert.deepEqual(await offered('mailbox', 'alias'), ['alias', 'aliases'])
    assert.deepEqual(await offered('mailbox', 'alias', ''), [])
  })

  test('options, values and files', async () => {
    assert.deepEqual(await offered('mailbox', 'aliases', 'a@b.test', '--l'), ['--limit'])
    assert.deepEqual(await offered('provider', 'list', '--status', ''), ['active', 'inactive', 'error', 'pending'])
    assert.deepEqual(await offered('provider', 'list', '--status', 'active', '--t'), ['--team', '--type'])
    assert.deepEqual(await offered('agent', 'registration', ''), ['on', 'off'])
    assert.deepEqual(await offered('webhook', 'create', 'x', '--event', 'message.b'), ['message.bounced'])
    assert.deepEqual(await offered('send', 'a@b.test', '--attach', 'a'), ['a file.txt'])
    assert.deepEqual(await offered('restore', 'a'), ['a file.txt'])
    assert.deepEqual(await offered('key', 'list', '--team', ''), [])
  })
})

for (const shell of SHELLS) {
  test(`the script for ${shell} has every command and option, and ${shell} can read it`, async (t) => {
    const script = await scriptOf(shell)
    for (const { words, options = {} } of COMMANDS) {
      assert.ok(script.includes(`'${words}'`) || script.includes(`\\'${words}\\'`), words)
      for (const name of [...Object.keys(options), 'json', 'help']) {
        assert.match(script, new RegExp(shell === 'fish' ? ` -l ${name}\\b` : `--${name}\\b`), `${words} --${name}`)
      }
    }
    const missing = missingProgram(shell)
    if (missing !== false) return t.diagnostic(missing)
    const file = join(folder, `script.${shell}`)
    await writeFile(file, script)
    assert.equal(spawnSync(shell, ['-n', file], { encoding: 'utf8' }).stderr, '')
  })
}

test('the help of every command has its examples and the values of its options, also as JSON', async () => {
  const all = JSON.parse((await cli.run('--help', '--json')).out[0]!)
  assert.deepEqual(
    all.map(({ command }: { command: string }) => command),
    COMMANDS.map(({ words }) => words),
  )
  for (const { words, options = {}, examples = [] } of COMMANDS) {
    const one = JSON.parse((await cli.run(...words.split(' '), '--help', '--json')).out[0]!)
    assert.deepEqual([one.command, one.examples], [words, examples])
    const { out } = await cli.run(...words.split(' '), '--help')
    for (const example of examples) assert.ok(out.includes(`  ${example}`), words)
    for (const [name, option] of Object.entries(options)) {
      const line = out.find((text) => text.startsWith(`  --${name} `) || text === `  --${name}`)!
      for (const word of option.words ?? []) assert.ok(`${line} `.includes(word), `${words} --${name}: ${word}`)
    }
  }
  const titles = (await cli.run('--help')).out.filter((line) => /^\w.*:$/.test(line))
  assert.ok(titles.length >= 5, titles.join())
})

test('a mistyped command or option is answered with the nearest one', async () => {
  await cli.refused(['maibox', 'list'], 'There is no command maibox list. Did you mean mailbox?')
  await cli.refused(['key', 'rotat'], 'Did you mean key rotate?')
  await cli.refused(['key', 'list', '--limt', '5'], 'Did you mean --limit?')
  await cli.refused(['completion', 'ksh'], 'ksh is not a valid value. Use bash, zsh or fish.')
  await cli.refused(['completion'], 'is missing')
})
