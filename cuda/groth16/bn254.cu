#include "groth16/curve_impl.cuh"

template std::shared_ptr<cuzk::groth16::AnyKey> cuzk::groth16::OnCurve<cuzk::Bn254>::load_key(Engine&, const cuzk_key_source&, const Poll&);
template std::shared_ptr<cuzk::groth16::AnyStructure> cuzk::groth16::OnCurve<cuzk::Bn254>::load_structure(Engine&, const cuzk_structure_source&,
                                                                                              const Poll&);
