// Fills Node's compile cache with the modules of threads: a thread that is terminated does not keep what it compiled, and would strip the types
// of its modules again each time.

import { globSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

for (const file of globSync('src/**/*-thread.ts', { cwd: ROOT })) {
  // Some fail without the data of their thread: after their imports, which are compiled then.
  await import(join(ROOT, file)).catch(() => {})
}
