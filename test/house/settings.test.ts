// The documentation of the settings is up to date: schema, example and the table of README.md are generated from src/config/config.ts.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { settingFiles } from '../../scripts/settings.ts'
import { loadConfig } from '../../src/config/load.ts'
import { ROOT } from '../support/source.ts'

for (const { path, content } of settingFiles()) {
  test(`${path} is up to date`, () => {
    assert.equal(readFileSync(join(ROOT, path), 'utf8'), content, 'run: node scripts/run.js scripts/settings.ts')
  })
}

test('the example is a settings file with the defaults only', () => {
  const example = join(ROOT, 'config/mailstead.example.json')
  assert.deepEqual(loadConfig({}, example), loadConfig({}, join(ROOT, 'config/none.json')))
})
