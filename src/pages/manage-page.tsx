import { List, Prose } from './components/index.ts'
import { scriptPage } from './layout/index.ts'

const COMMANDS = [
  '`npx sync-card whoami` shows what a token may do',
  '`npx sync-card list` and `show ID` find agents, `lint FILE` checks their cards',
  '`npx sync-card verify URL` shows who signed a card, `check ID` tests an agent against it',
  '`npx sync-card refresh ID` fetches a remote card, and accepts a pending one',
  '`npx sync-card history ID`, `diff ID 7` and `rollback ID 6` compare and restore revisions',
  '`npx sync-card lint --observed FILE` compares a card with the calls of its agent',
  '`npx sync-card token` and `npx sync-card audit` are for the scope `admin`',
]

/** `GET /manage`: the page of owners. Its script calls the API with the token that its user enters. */
export const getManagePage = scriptPage('Get the page on which owners manage agents', () => ({
  title: 'Manage agents',
  description: 'For owners: reports, revisions, remote cards, observed calls and tokens of the agents of a host.',
  section: 'manage',
  script: 'manage.js',
  main: (
    <>
      <h1>Manage agents</h1>
      <p>
        See and change the agents that your token covers. All that this page does is in the{' '}
        <a href="/openapi.json">API</a>, and <code>sync-card</code> can do it too.
      </p>
      <noscript>
        <div class="message">
          <p>This page needs JavaScript. Without it, use a terminal in a clone of this host:</p>
          <List items={COMMANDS.map(text => <Prose text={text} />)} />
        </div>
      </noscript>
      <div id="manage" />
    </>
  ),
}))
