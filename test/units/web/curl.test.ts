// Requests as commands: a shell runs curl with the address, and nothing else.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { curlOf, requestsOf } from '../../../web/src/base/curl.ts'

const ORIGIN = 'https://mail.example'
const ID = `dlog_${'a'.repeat(24)}`

/** What a POSIX shell gives to curl: a function in its place prints its arguments. */
function argumentsOf(command: string): string[] {
  const script = `curl() { for word; do printf '%s\\n' "$word"; done; }\nKEY=k SESSION=s\n${command}`
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n')
}

const HOSTILE = [
  '$(id>&2)',
  '`id`',
  "'; id; '",
  '"$(id)"',
  'a b',
  '..',
  '{a,b}',
  '[1-9]',
  '#',
  '\\',
  '*',
  '~',
  '!!',
  'a\nid',
]

test('nothing in a path or query is run or expanded', () => {
  for (const text of HOSTILE) {
    const [address, ...rest] = argumentsOf(
      curlOf({ method: 'GET', path: `/emails/logs/x${text}`, query: { q: text } }, ORIGIN),
    )
    const url = new URL(address!)
    assert.equal(decodeURIComponent(url.pathname), `/api/v1/emails/logs/x${text}`)
    assert.equal(url.searchParams.get('q'), text)
    assert.doesNotMatch(address!, /[[\]{}\s]/, 'curl would expand brackets and braces')
    assert.deepEqual(rest, ['-H', 'Authorization: Bearer k'])
  }
})

test('a body is one word', () => {
  const body = { name: 'it\'s $(id) `id` \\ "x"' }
  const words = argumentsOf(curlOf({ method: 'POST', path: '/domains', body }, ORIGIN))
  assert.deepEqual(words.slice(0, 2), ['-X', 'POST'])
  assert.deepEqual(JSON.parse(words.at(-1)!), body)
})

test('an open row is named by its id only', () => {
  const paths = (open: string | null) => requestsOf('/emails/logs', {}, open).map(({ path }) => path)
  assert.deepEqual(paths(ID), ['/emails/logs', `/emails/logs/${ID}`])
  for (const open of [...HOSTILE, '', ID.toUpperCase(), `${ID}x`, `${ID}\n`, `../${ID}`, null]) {
    assert.deepEqual(paths(open), ['/emails/logs'], String(open))
  }
})
