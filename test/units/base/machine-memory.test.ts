// The heap of a thread is bounded by the memory of the machine.

import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import process from 'node:process'
import { describe, it, test } from 'node:test'
import { memoryBytes, oldGenerationMb, shareBytes } from '../../../src/base/machine-memory.ts'

const MIB = 1024 ** 2
const GIB = 1024 * MIB

test('a heap takes at most half of the memory, and no more than is asked for', () => {
  for (const [memory, bound] of [
    [GIB / 2, 256],
    [GIB, 512],
    [2 * GIB, 1024],
    [4 * GIB, 2000],
    [64 * GIB, 2000],
  ] as const)
    assert.equal(oldGenerationMb(2000, memory), bound)
})

test('the memory is that of the machine, or of the container that has less', (t) => {
  const half = Math.floor(totalmem() / 2 / 1024 ** 2)
  const bounds: [constrained: number, heap: number][] = [
    [2 ** 63, half],
    [GIB / 4, 128],
  ]
  for (const [constrained, heap] of bounds) {
    const mocked = t.mock.method(process, 'constrainedMemory', () => constrained)
    assert.equal(oldGenerationMb(Number.POSITIVE_INFINITY), heap)
    mocked.mock.restore()
  }
})

/** The files of a machine. */
function machine(files: Record<string, string>) {
  return memoryBytes((path) => files[path] ?? null, 16 * GIB)
}

describe('the memory in a control group', () => {
  it('of cgroup v2 is the least limit of the group and of those above it', () => {
    const group = { '/proc/self/cgroup': '0::/system.slice/mailstead.service\n' }
    const max = '/sys/fs/cgroup/system.slice/mailstead.service/memory.max'
    assert.equal(machine({ ...group, [max]: `${GIB}\n` }), GIB)
    assert.equal(machine({ ...group, [max]: 'max\n' }), 16 * GIB)
    const above = '/sys/fs/cgroup/system.slice/memory.high'
    assert.equal(machine({ ...group, [max]: `${GIB}\n`, [above]: `${GIB / 2}\n` }), GIB / 2)
  })

  it('of cgroup v2 in a container is that of its own root', () => {
    assert.equal(machine({ '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': `${GIB / 2}\n` }), GIB / 2)
  })

  it('of cgroup v1 is the hierarchical limit, also where the container sees its group as the root', () => {
    const groups = '5:cpu,cpuacct:/x\n4:memory:/docker/abc\n1:name=systemd:/\n0::/\n'
    const stat = `cache 1\nhierarchical_memory_limit ${GIB / 2}\nhierarchical_memsw_limit 9223372036854771712\n`
    for (const folder of ['/sys/fs/cgroup/memory/docker/abc', '/sys/fs/cgroup/memory'])
      assert.equal(machine({ '/proc/self/cgroup': groups, [`${folder}/memory.stat`]: stat }), GIB / 2)
  })

  it('without limits or control groups is that of the machine', () => {
    const unlimited = 'hierarchical_memory_limit 9223372036854771712\n'
    assert.equal(
      machine({ '/proc/self/cgroup': '4:memory:/\n', '/sys/fs/cgroup/memory/memory.stat': unlimited }),
      16 * GIB,
    )
    assert.equal(machine({}), 16 * GIB)
  })
})

test('a part takes its share of what is beside the base, within its bounds', () => {
  const part = { share: 0.5, least: 64 * MIB, most: 256 * MIB }
  assert.deepEqual(
    [256 * MIB, 512 * MIB, 640 * MIB, 8 * GIB].map((memory) => shareBytes(part, memory) / MIB),
    [64, 120, 184, 256],
  )
})
