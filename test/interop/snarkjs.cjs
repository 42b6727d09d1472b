// Runs many operations of snarkjs in one process. Standard input: a JSON list of
//   {"op": "verify", "vk": FILE, "public": FILE, "proof": FILE}            → true or false
//   {"op": "prove", "zkey": FILE, "wtns": FILE, "public": FILE, "proof": FILE}  → true; writes the two files
//   {"op": "vk", "zkey": FILE, "vk": FILE}                                  → true; writes the verification key
// Standard output: the JSON list of results. NODE_PATH must name the folder of snarkjs.
const fs = require("fs");
const snarkjs = require("snarkjs");

const load = (file) => JSON.parse(fs.readFileSync(file, "utf8"));
const save = (file, value) => fs.writeFileSync(file, JSON.stringify(value, null, 1));

const operations = {
  async verify({ vk, public: publicFile, proof }) {
    return snarkjs.groth16.verify(load(vk), load(publicFile), load(proof));
  },
  async prove({ zkey, wtns, public: publicFile, proof }) {
    const result = await snarkjs.groth16.prove(zkey, wtns);
    save(proof, result.proof);
    save(publicFile, result.publicSignals);
    return true;
  },
  async vk({ zkey, vk }) {
    save(vk, await snarkjs.zKey.exportVerificationKey(zkey));
    return true;
  },
};

(async () => {
  const results = [];
  for (const task of JSON.parse(fs.readFileSync(0, "utf8"))) results.push(await operations[task.op](task));
  console.log(JSON.stringify(results));
  process.exit(0);
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
