// A certified OpenID Connect provider on loopback, with the clients of a platform. In memory, for tests.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

// its name holds its port, so it has the port first
const server = createServer();
await new Promise((bound) => server.listen(0, '127.0.0.1', bound));
const { port } = server.address();
// what people are entitled to, by the word of a file that the test may change at any time
const entitled = () => JSON.parse(readFileSync('entitlements.json', 'utf-8'));
const named = (token) => ({ preferred_username: token.accountId, eduperson_entitlement: entitled() });
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const AUDIENCE = 'https://dpgate.example';

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: 'dpgate-web',
      client_secret: 'web secret & more',
      redirect_uris: ['http://127.0.0.1/login/oidc/back'],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      application_type: 'native',
      backchannel_logout_uri: process.env.LOGOUT_URI,
      backchannel_logout_session_required: true,
    },
    {
      client_id: 'dpgate-cli',
      token_endpoint_auth_method: 'none',
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
      redirect_uris: [],
      response_types: [],
    },
    {
      client_id: 'nightly',
      client_secret: 'service secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
    {
      client_id: 'workbench',
      client_secret: 'workbench secret',
      grant_types: [EXCHANGE],
      redirect_uris: [],
      response_types: [],
    },
  ],
  extraTokenClaims: (_, token) => (token.gty === EXCHANGE ? { act: { sub: token.clientId }, ...named(token) } : undefined),
  claims: { openid: ['sub'], profile: ['preferred_username', 'eduperson_entitlement'] },
  // its own refuses addresses of this machine, which is where the test listens
  fetch: (url, options) => globalThis.fetch(url, { ...options, dispatcher: undefined }),
  pkce: { required: () => true },
  features: {
    devInteractions: { enabled: true },
    deviceFlow: { enabled: true },
    clientCredentials: { enabled: true },
    backchannelLogout: { enabled: true },
    introspection: { enabled: true, allowedPolicy: async () => true },
    // the service gets a JWT for the platform, people get opaque tokens: both kinds are tried
    resourceIndicators: {
      enabled: true,
      defaultResource: async (_, client) => (client.clientId === 'nightly' ? AUDIENCE : undefined),
      useGrantedResource: async () => true,
      getResourceServerInfo: async () => ({ scope: '', accessTokenFormat: 'jwt', accessTokenTTL: 300 }),
    },
  },
  findAccount: async (_, id) => ({
    accountId: id,
    claims: async () => ({ sub: id, preferred_username: id, eduperson_entitlement: entitled() }),
  }),
});
// a person's token for one by which a service acts for them (RFC 8693)
const exchange = async (ctx) => {
  const subject = await provider.AccessToken.find(ctx.oidc.params.subject_token);
  ctx.assert(subject?.isValid, 400, 'invalid_grant');
  const token = new provider.AccessToken({
    accountId: subject.accountId,
    client: ctx.oidc.client,
    grantId: subject.grantId,
    gty: EXCHANGE,
  });
  token.resourceServer = new provider.ResourceServer(AUDIENCE, { accessTokenFormat: 'jwt', accessTokenTTL: 300 });
  ctx.body = { access_token: await token.save(), token_type: 'Bearer', expires_in: 300 };
};
provider.registerGrantType(EXCHANGE, exchange, ['subject_token', 'subject_token_type']);
server.on('request', provider.callback());
console.log(`ready ${port}`);
