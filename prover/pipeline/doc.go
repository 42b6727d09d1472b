// Package pipeline takes a circuit's files and its inputs to verified proofs, through the stages queue, srs, synth, gpu
// and verify.
//
// One pipeline serves all circuit types: a type contributes its front end, from an input to an assignment, and nothing
// else. Proof and public inputs leave only after the proof has verified. A Prover takes inputs that give one proof each
// (circom, gnark), a Filecoin prover jobs that have a proof for each of their partitions.
package pipeline
