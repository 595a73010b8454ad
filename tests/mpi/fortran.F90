! SPDX-License-Identifier: BSD-3-Clause
! An MPI program that knows of no group, by whichever of Fortran's three interfaces is defined when it is compiled:
! INCLUDED (mpif.h), MODULE (mpi) or F08 (mpi_f08). Rank 0 prints "R ranks, W wrong", as collectives.c does.
program fortran
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#if defined(INCLUDED)
  include 'mpif.h'
#endif
  integer, parameter :: many = 20000
#if defined(F08)
  type(MPI_Request) :: request
#else
  integer :: request
#endif
  integer :: rank, ranks, root, i, code
  double precision :: wrong, all_wrong, own(many), sum_of(many)
  double precision, allocatable :: gathered(:)

  wrong = 0
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  allocate(gathered(many * ranks))

  do root = 0, ranks - 1
    call fill(root)
    call MPI_Bcast(own, many, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, code)
    call check(root)
    call fill(root)
    call MPI_Ibcast(own, many, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, request, code)
    call MPI_Wait(request, MPI_STATUS_IGNORE, code)
    call check(root)
  end do

  own = rank
  call MPI_Allgather(own, many, MPI_DOUBLE_PRECISION, gathered, many, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, code)
  do i = 1, many * ranks
    if (gathered(i) /= dble((i - 1) / many)) wrong = wrong + 1
  end do
  own = rank + 1
  call MPI_Allreduce(own, sum_of, many, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
  wrong = wrong + count(sum_of /= dble(ranks * (ranks + 1) / 2))
  call MPI_Allreduce(MPI_IN_PLACE, own, many, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, code)
  wrong = wrong + count(own /= dble(ranks))

  call MPI_Reduce(wrong, all_wrong, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, code)
  if (rank == 0) print '(i0, a, i0, a)', ranks, ' ranks, ', int(all_wrong), ' wrong'
  call MPI_Finalize(code)

contains

  subroutine fill(root)
    integer, intent(in) :: root
    own = 0
    if (rank == root) own = [(dble(i) * (root + 1), i = 1, many)]
  end subroutine fill

  subroutine check(root)
    integer, intent(in) :: root
    wrong = wrong + count(own /= [(dble(i) * (root + 1), i = 1, many)])
  end subroutine check
end program fortran
