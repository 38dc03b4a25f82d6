/** Takes whatever is posted and counts it. A message asks for the count. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

let count = 0;
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    count++;
    response.writeHead(200, { "Content-Length": 0 }).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on("message", () => process.send?.({ count }));
