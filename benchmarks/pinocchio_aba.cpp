// Pinocchio's tree algorithms and their derivatives as a C++ program uses them: its headers, instantiated here with -O3 -march=native.
// A small C face, so that one Python process runs both rivals alternately.
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

namespace pin = pinocchio;
using Rows3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

struct Tree
{
  pin::Model model;
  pin::Data data;
  Eigen::VectorXd q, v, tau;
};

extern "C" {

// Revolute joints about z: parent (n; −1 the world), pose of the joint in the parent R (n, 9), p (n, 3), mass (n),
// com (n, 3) and inertia about it (n, 9) in the joint's frame.
__attribute__((visibility("default"))) Tree * tree_new(
  int n, const long * parent, const double * R, const double * p, const double * mass, const double * com, const double * I)
{
  auto * tree = new Tree;
  tree->model.gravity.linear() = Eigen::Vector3d(0, 0, -9.81);
  for (int i = 0; i < n; ++i)
  {
    const pin::SE3 placement(Eigen::Map<const Rows3>(R + 9 * i), Eigen::Map<const Eigen::Vector3d>(p + 3 * i));
    const auto joint = tree->model.addJoint(parent[i] + 1, pin::JointModelRZ(), placement, "j" + std::to_string(i));
    const Eigen::Matrix3d about_com = Eigen::Map<const Rows3>(I + 9 * i);
    const pin::Inertia inertia(mass[i], Eigen::Map<const Eigen::Vector3d>(com + 3 * i), about_com);
    tree->model.appendBodyToJoint(joint, inertia, pin::SE3::Identity());
  }
  tree->data = pin::Data(tree->model);
  tree->q = tree->v = tree->tau = Eigen::VectorXd::Zero(n);
  return tree;
}

// The same with joints of three kinds: 0 revolute about z, 1 prismatic along z, 2 free.
__attribute__((visibility("default"))) Tree * tree_of_kinds(
  int n, const long * parent, const long * kind, const double * R, const double * p, const double * mass, const double * com,
  const double * I, const double * gravity)
{
  auto * tree = new Tree;
  tree->model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
  for (int i = 0; i < n; ++i)
  {
    const pin::SE3 placement(Eigen::Map<const Rows3>(R + 9 * i), Eigen::Map<const Eigen::Vector3d>(p + 3 * i));
    const auto name = "j" + std::to_string(i);
    const auto above = parent[i] + 1;
    const auto joint = kind[i] == 0   ? tree->model.addJoint(above, pin::JointModelRZ(), placement, name)
                       : kind[i] == 1 ? tree->model.addJoint(above, pin::JointModelPZ(), placement, name)
                                      : tree->model.addJoint(above, pin::JointModelFreeFlyer(), placement, name);
    const Eigen::Matrix3d about_com = Eigen::Map<const Rows3>(I + 9 * i);
    const pin::Inertia inertia(mass[i], Eigen::Map<const Eigen::Vector3d>(com + 3 * i), about_com);
    tree->model.appendBodyToJoint(joint, inertia, pin::SE3::Identity());
  }
  tree->data = pin::Data(tree->model);
  tree->q = Eigen::VectorXd::Zero(tree->model.nq);
  tree->v = tree->tau = Eigen::VectorXd::Zero(tree->model.nv);
  return tree;
}

// `repeat` calls of an algorithm at one state: 0 aba, 1 rnea, 2 crba, in local axes or those of the world; the last result
// goes to out (nv, or nv × nv with the upper half filled, columns contiguous).
__attribute__((visibility("default"))) void tree_run(
  Tree * tree, int repeat, int algorithm, int world, const double * q, const double * v, const double * x, double * out)
{
  const auto n = tree->model.nv;
  const auto axes = world ? pin::Convention::WORLD : pin::Convention::LOCAL;
  tree->q = Eigen::Map<const Eigen::VectorXd>(q, tree->model.nq);
  tree->v = Eigen::Map<const Eigen::VectorXd>(v, n);
  tree->tau = Eigen::Map<const Eigen::VectorXd>(x, n);
  for (int k = 0; k < repeat; ++k)
    if (algorithm == 0)
      pin::aba(tree->model, tree->data, tree->q, tree->v, tree->tau, axes);
    else if (algorithm == 1)
      pin::rnea(tree->model, tree->data, tree->q, tree->v, tree->tau);
    else
      pin::crba(tree->model, tree->data, tree->q, axes);
  if (algorithm == 0)
    Eigen::Map<Eigen::VectorXd>(out, n) = tree->data.ddq;
  else if (algorithm == 1)
    Eigen::Map<Eigen::VectorXd>(out, n) = tree->data.tau;
  else
    Eigen::Map<Eigen::MatrixXd>(out, n, n) = tree->data.M;
}

__attribute__((visibility("default"))) void tree_delete(Tree * tree)
{
  delete tree;
}

// `repeat` calls of aba at one state; the last acceleration goes to a.
__attribute__((visibility("default"))) void tree_aba(
  Tree * tree, int repeat, const double * q, const double * v, const double * tau, double * a)
{
  const auto n = tree->model.nv;
  tree->q = Eigen::Map<const Eigen::VectorXd>(q, n);
  tree->v = Eigen::Map<const Eigen::VectorXd>(v, n);
  tree->tau = Eigen::Map<const Eigen::VectorXd>(tau, n);
  for (int k = 0; k < repeat; ++k)
    pin::aba(tree->model, tree->data, tree->q, tree->v, tree->tau, pin::Convention::LOCAL);
  Eigen::Map<Eigen::VectorXd>(a, n) = tree->data.ddq;
}

// `repeat` calls of computeABADerivatives at one state; ∂a/∂q, ∂a/∂v and M⁻¹ (n, n; columns contiguous, of M⁻¹ the upper half).
__attribute__((visibility("default"))) void tree_aba_derivatives(
  Tree * tree, int repeat, const double * q, const double * v, const double * tau, double * dq, double * dv, double * dtau)
{
  const auto n = tree->model.nv;
  tree->q = Eigen::Map<const Eigen::VectorXd>(q, n);
  tree->v = Eigen::Map<const Eigen::VectorXd>(v, n);
  tree->tau = Eigen::Map<const Eigen::VectorXd>(tau, n);
  for (int k = 0; k < repeat; ++k)
    pin::computeABADerivatives(tree->model, tree->data, tree->q, tree->v, tree->tau);
  Eigen::Map<Eigen::MatrixXd>(dq, n, n) = tree->data.ddq_dq;
  Eigen::Map<Eigen::MatrixXd>(dv, n, n) = tree->data.ddq_dv;
  Eigen::Map<Eigen::MatrixXd>(dtau, n, n) = tree->data.Minv;
}

// `repeat` calls of computeRNEADerivatives at one state; ∂τ/∂q, ∂τ/∂v and M, laid out the same way.
__attribute__((visibility("default"))) void tree_rnea_derivatives(
  Tree * tree, int repeat, const double * q, const double * v, const double * a, double * dq, double * dv, double * M)
{
  const auto n = tree->model.nv;
  tree->q = Eigen::Map<const Eigen::VectorXd>(q, n);
  tree->v = Eigen::Map<const Eigen::VectorXd>(v, n);
  tree->tau = Eigen::Map<const Eigen::VectorXd>(a, n);
  for (int k = 0; k < repeat; ++k)
    pin::computeRNEADerivatives(tree->model, tree->data, tree->q, tree->v, tree->tau);
  Eigen::Map<Eigen::MatrixXd>(dq, n, n) = tree->data.dtau_dq;
  Eigen::Map<Eigen::MatrixXd>(dv, n, n) = tree->data.dtau_dv;
  Eigen::Map<Eigen::MatrixXd>(M, n, n) = tree->data.M;
}
}
