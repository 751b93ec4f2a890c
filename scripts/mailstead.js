#!/usr/bin/env node
// The command `mailstead`: the operator's CLI on the right Node.

import process from 'node:process'

process.argv.splice(2, 0, 'src/cli/cli.ts')
await import('./run.js')
