// Which ports mail programs are told to connect to.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publicPort } from '../../../src/config/client-protocols.ts'
import { loadConfig } from '../../../src/config/load.ts'

const configOf = (env: Record<string, string>) => loadConfig(env, '/nonexistent/mailstead.json')

test('a trial names the ports it listens on, other servers the registered ones, unless they are set', () => {
  const ports = (env: Record<string, string>) => {
    const config = configOf(env)
    return (['imaps', 'submissions', 'managesieve'] as const).map((name) => publicPort(config, name))
  }
  assert.deepEqual(ports({}), [2993, 2465, 4190])
  assert.deepEqual(ports({ IMAPS_PORT: '3993' }), [3993, 2465, 4190])
  assert.deepEqual(ports({ IMAPS_PORT: '0' }), [993, 2465, 4190], 'any free port is not known')
  assert.deepEqual(ports({ MAIL_HOSTS: 'mail.shop.de' }), [993, 465, 4190])
  assert.deepEqual(
    ports({ CLIENT_PUBLIC_PORTS: '993,143,465,587,4190' }),
    [993, 465, 4190],
    'a container publishes them',
  )
})

test('all ports are set, or none', () => {
  assert.throws(() => configOf({ CLIENT_PUBLIC_PORTS: '993,465' }), /CLIENT_PUBLIC_PORTS must name 5 ports, or none/)
})
